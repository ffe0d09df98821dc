package semelhttp

import (
	"net/http"
	"slices"
	"strings"
)

// snapshot is a copy of a header map at one moment, without a map of its own:
// what was sent stays known while the handler goes on changing the map.
type snapshot struct {
	names  []nameCount
	values []string
}

// nameCount says how many of the values belong to a name; 0 for a name whose
// presence alone means something to net/http.
type nameCount struct {
	name  string
	count int
}

// take replaces the snapshot by the state of h.
func (s *snapshot) take(h http.Header) {
	s.reset()
	for name, values := range h {
		s.names = append(s.names, nameCount{name, len(values)})
		s.values = append(s.values, values...)
	}
}

func (s *snapshot) reset() {
	clear(s.names)
	clear(s.values)
	s.names, s.values = s.names[:0], s.values[:0]
}

// all yields each name with its values.
func (s *snapshot) all(yield func(name string, values []string) bool) {
	rest := s.values
	for _, n := range s.names {
		if !yield(n.name, rest[:n.count:n.count]) {
			return
		}
		rest = rest[n.count:]
	}
}

// get returns the values of a name and whether it is present.
func (s *snapshot) get(name string) (values []string, present bool) {
	for n, v := range s.all {
		if n == name {
			return v, true
		}
	}
	return nil, false
}

func (s *snapshot) equal(h http.Header) bool {
	if len(h) != len(s.names) {
		return false
	}
	for name, values := range s.all {
		now, present := h[name]
		if !present || !slices.Equal(now, values) {
			return false
		}
	}
	return true
}

// restore makes h what it was.
func (s *snapshot) restore(h http.Header) {
	if s.equal(h) {
		return
	}
	clear(h)
	s.addTo(h)
}

// takeTrailers keeps what stands in h as a trailer of the header that was sent.
func (s *snapshot) takeTrailers(h http.Header, sent *snapshot) {
	s.reset()
	for name, values := range h {
		if sent.isTrailer(name) {
			s.names = append(s.names, nameCount{name, len(values)})
			s.values = append(s.values, values...)
		}
	}
}

// addTo puts the snapshot into h, beside what is there.
func (s *snapshot) addTo(h http.Header) {
	for name, values := range s.all {
		h[name] = slices.Clone(values)
	}
}

// announced reports whether the Trailer header of the snapshot names a trailer.
func (s *snapshot) announced(name string) bool {
	lines, _ := s.get("Trailer")
	return listed(lines, name)
}

// listed reports whether a comma-separated list holds a header name.
func listed(lines []string, name string) bool {
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.Trim(item, " \t"), name) {
				return true
			}
		}
	}
	return false
}

// isTrailer reports whether a name in the header map belongs behind the body.
func (s *snapshot) isTrailer(name string) bool {
	return strings.HasPrefix(name, http.TrailerPrefix) || s.announced(name)
}

func sortedNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
