package proxy

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// spellings knows which paths a service may read as that of a route whose
// signatures are checked, although the gateway's own pattern does not match them:
// in other cases, encoded, with parameters or with a slash at the end.
type spellings struct {
	mux      *http.ServeMux  // of patterns in lower case
	patterns map[string]bool // of mux; true where signatures are checked
}

// newSpellings returns nil where no signatures are checked.
func newSpellings(routes []settings.Route) (*spellings, error) {
	s := &spellings{mux: http.NewServeMux(), patterns: map[string]bool{}}
	for _, route := range routes {
		if !verifies(route) {
			continue
		}
		if err := s.add(route.Path, true); err != nil {
			return nil, inRoute(route, err)
		}
	}
	if len(s.patterns) == 0 {
		return nil, nil
	}
	for _, route := range routes {
		// One in conflict with a checked route in lower case alone yields to it.
		_ = s.add(route.Path, false)
	}
	return s, nil
}

func (s *spellings) add(pattern string, verified bool) error {
	pattern = strings.ToLower(pattern)
	if _, known := s.patterns[pattern]; known {
		return nil
	}
	if err := settings.AddPattern(s.mux, pattern); err != nil {
		return err
	}
	s.patterns[pattern] = verified
	return nil
}

// evades reports a request that a service may take for one of a route whose
// signatures are checked, while the gateway takes it for one of pattern, or of no
// route where that is empty.
func (s *spellings) evades(r *http.Request, pattern string) bool {
	if s == nil || isSafe(r.Method) {
		return false
	}
	plain := &http.Request{Method: http.MethodPost, Host: plainHost(r.Host), URL: &url.URL{Path: plainPath(r.URL.Path)}}
	_, meant := s.mux.Handler(plain)
	return s.patterns[meant] && meant != strings.ToLower(pattern)
}

// verifies reports a route that refuses what its sender has not signed.
func verifies(route settings.Route) bool { return route.Verify != "" && !route.Observe }

// safeMethods have no effect, and so nobody signs them.
var safeMethods = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

func isSafe(method string) bool { return slices.Contains(safeMethods, method) }

// plainHost is a host in lower case, without port and the dot at its end.
func plainHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// plainPath is a path as the most lenient of services reads it.
func plainPath(decoded string) string {
	const decodings = 2 // more than any chain of servers is known to do by mistake
	for range decodings {
		if again, err := url.PathUnescape(decoded); err == nil {
			decoded = again
		}
	}
	segments := strings.Split(strings.ReplaceAll(decoded, `\`, "/"), "/")
	for i, segment := range segments {
		segments[i] = plainSegment(segment)
	}
	return path.Clean("/" + strings.ToLower(strings.Join(segments, "/")))
}

// plainSegment is what of a segment is before parameters, a query, a fragment or a
// zero byte, without blanks around it.
func plainSegment(segment string) string {
	if end := strings.IndexAny(segment, ";?#\x00"); end >= 0 {
		segment = segment[:end]
	}
	return strings.TrimFunc(segment, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
}
