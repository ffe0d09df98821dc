package proxy

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/semelhttp"
)

// routes finds the rule of a request. Unlike [http.ServeMux], whose patterns it
// takes, it redirects nobody: /x is for /x/ if no route has it, and what no route
// matches is for rest. It refuses only what would get around a check of signatures.
type routes struct {
	mux       *http.ServeMux // only asked which pattern matches
	paths     map[string]http.Handler
	spellings *spellings // nil: no signatures are checked
	rest      http.Handler
}

func (t *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, pattern := t.mux.Handler(r)
	if t.spellings.evades(r, pattern) {
		http.Error(w, "this path may be read as that of a route whose signatures are checked; write it as the route has it", http.StatusBadRequest)
		return
	}
	if path, ok := t.paths[pattern]; ok {
		path.ServeHTTP(w, r)
		return
	}
	t.rest.ServeHTTP(w, r)
}

// byMethod are the routes of one path.
type byMethod struct {
	methods  map[string]http.Handler
	verifies bool // one of them checks signatures; then only safe methods are for rest
	rest     http.Handler
}

func (t *byMethod) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if route, ok := t.methods[r.Method]; ok {
		route.ServeHTTP(w, r)
		return
	}
	if t.verifies && !isSafe(r.Method) {
		w.Header().Set("Allow", t.allowed())
		http.Error(w, "signatures are checked here, and no route takes this method", http.StatusMethodNotAllowed)
		return
	}
	t.rest.ServeHTTP(w, r)
}

func (t *byMethod) allowed() string {
	return strings.Join(slices.Concat(safeMethods, slices.Sorted(maps.Keys(t.methods))), ", ")
}

// routes makes the handler of all routes.
func (g *Gateway) routes() (http.Handler, error) {
	rest, err := g.guarded(g.cfg.Rest())
	if err != nil || len(g.cfg.Routes) == 0 { // and so no endpoint, which is for a route
		return rest, err
	}
	spellings, err := newSpellings(g.cfg.Routes)
	if err != nil {
		return nil, err
	}
	table := &routes{mux: http.NewServeMux(), paths: map[string]http.Handler{}, spellings: spellings, rest: rest}
	for _, path := range g.cfg.Paths() {
		handler, err := g.path(path, rest)
		if err != nil {
			return nil, err
		}
		if err := table.add(path[0].Path, handler); err != nil {
			return nil, err
		}
	}
	return table, g.addTokenEndpoints(table)
}

func (t *routes) add(pattern string, handler http.Handler) error {
	err := settings.AddPattern(t.mux, pattern)
	if err == nil {
		t.paths[pattern] = handler
	}
	return err
}

// path makes the handler of the routes of one path.
func (g *Gateway) path(path []settings.Route, rest http.Handler) (http.Handler, error) {
	table := &byMethod{methods: map[string]http.Handler{}, rest: rest}
	for _, route := range path {
		table.verifies = table.verifies || verifies(route)
		handler, err := g.guarded(route)
		if err != nil {
			return nil, err
		}
		for _, method := range route.Methods {
			table.methods[method] = handler
		}
	}
	for _, route := range path {
		if route.CORS != nil { // at most one has it
			return g.cors(route, table)
		}
	}
	return table, nil
}

// cors stands before everything of a path, so that browsers of other origins can
// read refusals and replays too.
func (g *Gateway) cors(route settings.Route, next http.Handler) (http.Handler, error) {
	handler, err := withCORS(route.CORS, g.options(route), next)
	if err != nil {
		return nil, inRoute(route, err)
	}
	return handler, nil
}

// withCORS stands before a handler; guard may be nil.
func withCORS(c *settings.CORS, guard *semelhttp.Options, next http.Handler) (http.Handler, error) {
	layer, err := semelhttp.NewCORS(semelhttp.CORSOptions{
		Origins: c.Origins, Credentials: c.Credentials, MaxAge: c.MaxAge, PassPreflight: c.PassPreflight, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	return layer(next), nil
}
