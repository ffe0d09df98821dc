package proxy

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// withWildcards sets the path values of which a route makes keys. [http.ServeMux] sets
// them for the handlers that it calls itself, and here it is only asked.
func withWildcards(route settings.Route, next http.Handler) http.Handler {
	_, pattern, _ := strings.Cut(route.Path, "/") // after the host, if there is one
	places := map[string]int{}
	for _, source := range route.Keys {
		if source.Kind == settings.KeyPath {
			places[source.Name] = slices.Index(strings.Split(pattern, "/"), "{"+source.Name+"}")
		}
	}
	if len(places) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		segments := strings.Split(path.Clean("/" + r.URL.EscapedPath())[1:], "/")
		for name, i := range places {
			r.SetPathValue(name, segmentAt(segments, i))
		}
		next.ServeHTTP(w, r)
	})
}

// segmentAt is a segment of an escaped path as the mux has it: decoded on its own.
func segmentAt(escaped []string, i int) string {
	if i < 0 || i >= len(escaped) {
		return ""
	}
	if plain, err := url.PathUnescape(escaped[i]); err == nil {
		return plain
	}
	return escaped[i]
}
