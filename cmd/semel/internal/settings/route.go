package settings

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
)

// Route is a rule for some of the requests. What it does not say is as for all
// others.
type Route struct {
	Rule
	// Path is a pattern of [http.ServeMux] without a method.
	Path string
	// Name is the route's short label in records and metrics. Default Path.
	Name string
	// Enabled is false where requests pass unguarded.
	Enabled bool
	// Observe counts what a guard would do, and blocks nothing.
	Observe bool
	// Keys are where keys come from, tried in order; empty: the key header.
	Keys []KeySource
	// Verify is the file of the secrets with which the sender of webhooks signs them;
	// empty: nobody's signature is checked.
	Verify string
	// Derived makes a key where a request brings none; nil: it does not.
	Derived *Derived
	// JSON takes the fingerprint of what a JSON body says instead of its bytes; nil:
	// of its bytes.
	JSON *JSON
	// CORS is for browsers of other origins; nil: the upstream's business.
	CORS *CORS
	// Quota bounds what one caller may store; nil: nothing does.
	Quota *Quota

	place string // file and line
}

// Derived is a key made of principal, route and content.
type Derived struct {
	Window time.Duration
	// Reject refuses a duplicate instead of answering it with the recorded answer.
	Reject bool
}

// JSON selects by JSON pointers what of a body counts; nil slices: everything.
type JSON struct{ Include, Ignore []string }

// Quota bounds the records of one scope; 0: no bound.
type Quota struct{ NewKeysPerMinute, Records int }

// routeKeys are what a route may say.
var routeKeys = slices.Concat([]string{"path", "name", "enabled", "observe", "key", "verify", "duplicates", "fingerprint", "cors", "quota"}, ruleNames)

// readRoutes reads and checks the routes of the file. p holds what they inherit.
func (f *file) readRoutes(p *Proxy) []Route {
	var routes []Route
	for _, node := range f.routes.List() {
		routes = append(routes, f.readRoute(node, p))
	}
	f.checkPaths(routes)
	return routes
}

func (f *file) readRoute(node strictyaml.Node, p *Proxy) Route {
	values := node.Mapping(routeKeys...)
	if values == nil {
		return Route{}
	}
	route := Route{Rule: p.Rule, Enabled: true, place: node.Place()}
	route.readPath(values["path"], node)
	route.readName(values["name"])
	route.readSwitches(values)
	route.readKeys(values)
	route.readVerify(values["verify"])
	route.readContent(values["fingerprint"])
	route.CORS = readCORS(values["cors"])
	route.Quota = readQuota(values["quota"])
	f.readRule(&route.Rule, values, node, p)
	route.checkDerived(values)
	route.checkKeyPath(values)
	return route
}

// readRule reads the settings that are flags for all other requests.
func (f *file) readRule(rule *Rule, values map[string]strictyaml.Node, route strictyaml.Node, p *Proxy) {
	r := &reader{at: route.Place() + ": " + route.Path(), look: ruleTexts(values)}
	rule.read(r)
	rule.check(r)
	p.needs(r, rule.Principal)
	f.errs = append(f.errs, r.errs...)
}

// ruleTexts are the values of a route as texts. One of the wrong type is told
// once, here, and is then absent.
func ruleTexts(values map[string]strictyaml.Node) func(name string) setting {
	texts := map[string]setting{}
	for _, f := range proxyFlags {
		node := values[f.name]
		if value, ok := flagValue(f, node); ok {
			texts[f.name] = setting{value, node.Place() + ": " + node.Path()}
		}
	}
	return func(name string) setting { return texts[name] }
}

// readPath takes the path, which every route needs.
func (t *Route) readPath(node, route strictyaml.Node) {
	t.Path = readPattern(node, route, "the route has no path; write one such as /orders/{id}")
}

// readPattern reads the path of what whole is; it is empty where something is wrong.
func readPattern(node, whole strictyaml.Node, missing string) string {
	path, ok := node.Text()
	switch {
	case !node.Present():
		whole.Fail("%s", missing)
	case ok && strings.ContainsAny(path, " \t"):
		node.Fail("write the path alone, such as /orders/{id}; methods have a key of their own")
	case ok:
		if err := checkPattern(path); err != nil {
			node.Fail("%v", err)
			return ""
		}
		return path
	}
	return ""
}

func (t *Route) readName(node strictyaml.Node) {
	const maxName = 64
	t.Name = t.Path
	name, ok := node.Text()
	if ok && len(name) > maxName {
		node.Fail("a name has at most %d bytes", maxName)
		return
	}
	if ok {
		t.Name = name
	}
}

func (t *Route) readSwitches(values map[string]strictyaml.Node) {
	if enabled, ok := values["enabled"].Bool(); ok {
		t.Enabled = enabled
	}
	t.Observe, _ = values["observe"].Bool()
	if t.Observe && !t.Enabled {
		values["observe"].Fail("a route that is not enabled observes nothing; take one of the two out")
	}
}

// readContent reads what the fingerprint is made of: bytes, json, or a selection
// of JSON.
func (t *Route) readContent(node strictyaml.Node) {
	if !node.IsMapping() {
		kind, ok := node.Text()
		switch {
		case ok && kind == "json":
			t.JSON = &JSON{}
		case ok && kind != "bytes":
			node.Fail("%q is not one of bytes, json, or a mapping with json", kind)
		}
		return
	}
	fields := node.Mapping("json")["json"].Mapping("include", "ignore")
	t.JSON = &JSON{Include: readPointers(fields["include"]), Ignore: readPointers(fields["ignore"])}
	if err := t.JSON.check(); err != nil {
		node.Fail("%v", err)
	}
}

func readPointers(node strictyaml.Node) []string {
	var pointers []string
	for _, element := range node.List() {
		if text, ok := element.Text(); ok {
			pointers = append(pointers, text)
		}
	}
	return pointers
}

func readQuota(node strictyaml.Node) *Quota {
	values := node.Mapping("new-keys-per-minute", "records")
	if len(values) == 0 {
		return nil
	}
	var quota Quota
	quota.NewKeysPerMinute, _ = values["new-keys-per-minute"].Count()
	quota.Records, _ = values["records"].Count()
	return &quota
}

// checkPaths refuses routes of which nobody could say which one counts.
func (f *file) checkPaths(routes []Route) {
	mux, paths := http.NewServeMux(), map[string][]Route{}
	for i, late := range routes {
		if late.Path == "" { // is told already
			continue
		}
		var err error
		if early := paths[late.Path]; len(early) > 0 {
			err = late.besides(early)
		} else if AddPattern(mux, late.Path) != nil {
			err = late.overlaps(routes[:i])
		}
		if err != nil {
			f.errs = append(f.errs, fmt.Errorf("%s: routes[%d]: %w", late.place, i, err))
		}
		paths[late.Path] = append(paths[late.Path], late)
	}
}

// besides says why a route cannot stand beside those of the same path.
func (t Route) besides(path []Route) error {
	for _, early := range path {
		for _, m := range t.Methods {
			if slices.Contains(early.Methods, m) {
				return fmt.Errorf("%s %s has a route already (%s); give each other methods", m, t.Path, early.place)
			}
		}
		if t.CORS != nil && early.CORS != nil {
			return fmt.Errorf("cors counts for all methods of a path, and %s has it already; keep one", early.place)
		}
	}
	return nil
}

// overlaps names the earlier route that t is in conflict with.
func (t Route) overlaps(earlier []Route) error {
	for _, early := range earlier {
		if err := collide(t.Path, early.Path, early.place); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s cannot stand beside the routes before it", t.Path)
}

// collide says why two patterns cannot be told apart.
func collide(path, other, place string) error {
	mux := http.NewServeMux()
	switch {
	case other == "":
		return nil
	case path == other:
		return fmt.Errorf("%s is taken (%s); choose another path", path, place)
	case AddPattern(mux, other) == nil && AddPattern(mux, path) != nil:
		return fmt.Errorf("%s and %s (%s) match some paths both, and neither is the more specific; change one", path, other, place)
	}
	return nil
}

// checkPattern says what is wrong with a pattern.
func checkPattern(pattern string) error {
	if !strings.Contains(pattern, "/") {
		return fmt.Errorf("%q is no path; begin with /", pattern)
	}
	return AddPattern(http.NewServeMux(), pattern)
}

// AddPattern makes mux know a pattern, or returns why net/http, which panics then,
// does not take it.
func AddPattern(mux *http.ServeMux, pattern string) (err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			_, reason, _ := strings.Cut(fmt.Sprint(wrong), pattern+`": `)
			err = fmt.Errorf("%q is no pattern: %s", pattern, reason)
		}
	}()
	mux.Handle(pattern, http.NotFoundHandler())
	return nil
}

// Place is the route's file and line.
func (t Route) Place() string { return t.place }

// Rest is the rule of requests that no route matches.
func (p *Proxy) Rest() Route { return Route{Rule: p.Rule, Enabled: true} }

// Paths are the routes by their paths, in the order of the file.
func (p *Proxy) Paths() [][]Route {
	var paths [][]Route
	for _, route := range p.Routes {
		i := slices.IndexFunc(paths, func(path []Route) bool { return path[0].Path == route.Path })
		if i < 0 {
			paths = append(paths, []Route{route})
			continue
		}
		paths[i] = append(paths[i], route)
	}
	return paths
}
