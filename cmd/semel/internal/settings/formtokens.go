package settings

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
	"github.com/semel-go/semel/onetime"
)

// FormTokens says where forms get their tokens, and what these are signed with.
type FormTokens struct {
	// Secrets are files: the first one's secret signs, those of all verify.
	Secrets []string
	// Header and Field are where requests carry a token.
	Header, Field string
	Endpoints     []TokenEndpoint

	place string // file and line
}

// TokenEndpoint is a path that hands out the tokens of one purpose.
type TokenEndpoint struct {
	Path      string // a pattern of [http.ServeMux] without a method
	Purpose   string
	Lifetime  time.Duration
	Principal Principal
	// CORS is for browsers of other origins; nil: none may read the answer.
	CORS *CORS

	place string // file and line
}

// What a file says of form tokens, and of one endpoint.
var (
	formTokenKeys     = []string{"secrets", "header", "field", "endpoints"}
	tokenEndpointKeys = []string{"path", "purpose", "lifetime", "principal", "cors"}
)

// Place is the file and line of the form tokens.
func (t *FormTokens) Place() string { return t.place }

// Place is the endpoint's file and line.
func (e TokenEndpoint) Place() string { return e.place }

// Endpoint returns the endpoint for a purpose.
func (t *FormTokens) Endpoint(purpose string) (TokenEndpoint, bool) {
	if t == nil {
		return TokenEndpoint{}, false
	}
	i := slices.IndexFunc(t.Endpoints, func(e TokenEndpoint) bool { return e.Purpose == purpose })
	if i < 0 {
		return TokenEndpoint{}, false
	}
	return t.Endpoints[i], true
}

// readFormTokens reads form-tokens; nil where there are none. p holds what endpoints
// inherit, and the routes that they are for.
func (f *file) readFormTokens(p *Proxy) *FormTokens {
	node := f.formTokens
	if !node.Present() {
		f.checkTokenRoutes(p, nil)
		return nil
	}
	values := node.Mapping(formTokenKeys...)
	t := &FormTokens{Header: "Form-Token", Field: "form_token", place: node.Place()}
	t.readSecrets(node, values["secrets"])
	t.readPlaces(values)
	for _, endpoint := range values["endpoints"].List() {
		t.Endpoints = append(t.Endpoints, f.readTokenEndpoint(endpoint, p))
	}
	if values != nil && !values["endpoints"].Present() {
		node.Fail("name the endpoints where forms get their tokens, such as [{path: /tokens/order, purpose: order}]")
	}
	f.checkEndpoints(t, p)
	f.checkTokenRoutes(p, t)
	return t
}

func (t *FormTokens) readSecrets(tokens, node strictyaml.Node) {
	files := []strictyaml.Node{node}
	if node.IsList() {
		files = node.List()
	}
	for _, file := range files {
		name, ok := file.Text()
		switch {
		case !ok:
		case slices.Contains(t.Secrets, name):
			file.Fail("%s stands there twice", name)
		default:
			t.Secrets = append(t.Secrets, name)
		}
	}
	if !node.Present() || node.IsList() && len(files) == 0 {
		tokens.Fail("secrets names no file; write one of a secret with 32 bytes or more, made for instance with: openssl rand -hex 32")
	}
}

func (t *FormTokens) readPlaces(values map[string]strictyaml.Node) {
	if header, ok := values["header"].Text(); ok {
		if !isToken(header) || belongsToConnection(http.CanonicalHeaderKey(header)) {
			values["header"].Fail("%q cannot hold a token; name a header such as Form-Token", header)
		}
		t.Header = header
	}
	if field, ok := values["field"].Text(); ok {
		if !isFieldName(field) {
			values["field"].Fail("%q is no plain name of a field; use letters, digits, - and _", field)
		}
		t.Field = field
	}
}

// isFieldName is true for a name that needs no escaping in any form.
func isFieldName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return s != "" && strings.Trim(s, letters) == ""
}

const defaultTokenLifetime = 12 * time.Hour

func (f *file) readTokenEndpoint(node strictyaml.Node, p *Proxy) TokenEndpoint {
	values := node.Mapping(tokenEndpointKeys...)
	if values == nil {
		return TokenEndpoint{}
	}
	e := TokenEndpoint{Lifetime: defaultTokenLifetime, Principal: p.Principal, place: node.Place()}
	e.Path = readPattern(values["path"], node, "the endpoint has no path; write one such as /tokens/order")
	e.Purpose, _ = values["purpose"].Text()
	if err := onetime.CheckPurpose(e.Purpose); err != nil {
		blame(values["purpose"], node).Fail("%s", strings.TrimPrefix(err.Error(), "onetime: "))
	}
	e.readLifetime(values["lifetime"])
	e.CORS = readCORS(values["cors"])
	r := &reader{at: node.Place() + ": " + node.Path(), look: ruleTexts(values)}
	override(r, "principal", &e.Principal, ParsePrincipal)
	p.needs(r, e.Principal)
	f.errs = append(f.errs, r.errs...)
	return e
}

// blame is the value that is wrong, or what it is missing in.
func blame(value, whole strictyaml.Node) strictyaml.Node {
	if value.Present() {
		return value
	}
	return whole
}

func (e *TokenEndpoint) readLifetime(node strictyaml.Node) {
	const longest = 366 * 24 * time.Hour
	text, ok := node.Text()
	if !ok {
		return
	}
	lifetime, err := parseDuration(text)
	switch {
	case err != nil:
		node.Fail("%v", err)
	case lifetime < time.Second || lifetime > longest:
		node.Fail("%v is not between 1s and 366 days; use the longest time that a form may stay open", lifetime)
	default:
		e.Lifetime = lifetime
	}
}

// checkEndpoints refuses endpoints of which nobody could say which one counts, and
// those whose tokens nobody takes.
func (f *file) checkEndpoints(t *FormTokens, p *Proxy) {
	for i, e := range t.Endpoints {
		if e.Path == "" || e.Purpose == "" { // is told already
			continue
		}
		err := e.besides(t.Endpoints[:i], p.Routes)
		if err == nil && !slices.ContainsFunc(p.Routes, func(route Route) bool { return route.TokenPurpose() == e.Purpose }) {
			err = fmt.Errorf("no route takes its tokens; write key: form-token:%s there, or take the endpoint out", e.Purpose)
		}
		if err != nil {
			f.errs = append(f.errs, fmt.Errorf("%s: form-tokens.endpoints[%d]: %w", e.place, i, err))
		}
	}
}

// besides says why an endpoint cannot stand beside others and routes.
func (e TokenEndpoint) besides(earlier []TokenEndpoint, routes []Route) error {
	for _, other := range earlier {
		if other.Purpose == e.Purpose {
			return fmt.Errorf("the purpose %s has an endpoint already (%s); keep one", e.Purpose, other.place)
		}
		if err := collide(e.Path, other.Path, other.place); err != nil {
			return err
		}
	}
	for _, route := range routes {
		if err := collide(e.Path, route.Path, route.place); err != nil {
			return err
		}
	}
	return nil
}

// checkTokenRoutes refuses routes whose tokens nobody could get, or use only once.
func (f *file) checkTokenRoutes(p *Proxy, t *FormTokens) {
	for i, route := range p.Routes {
		purpose := route.TokenPurpose()
		if purpose == "" {
			continue
		}
		if err := route.checkToken(purpose, t); err != nil {
			f.errs = append(f.errs, fmt.Errorf("%s: routes[%d].key: %w", route.place, i, err))
		}
	}
}

func (t Route) checkToken(purpose string, tokens *FormTokens) error {
	e, ok := tokens.Endpoint(purpose)
	least := e.Lifetime + onetime.Slack
	switch {
	case !ok:
		return fmt.Errorf("nobody issues tokens for %s; add an endpoint with purpose: %s under form-tokens", purpose, purpose)
	case e.Principal != t.Principal:
		return fmt.Errorf("the endpoint (%s) issues tokens to %s, and this route's callers are told apart by %s: every token would be refused; give both the same principal", e.place, e.Principal, t.Principal)
	case t.Retention < least:
		return fmt.Errorf("retention %v is below %v, the lifetime of the tokens and two hours: a used token could be used again when its record is gone; raise retention", t.Retention, least)
	case slices.ContainsFunc(t.Keys, func(k KeySource) bool { return k.Kind == KeyHeader && strings.EqualFold(k.Name, tokens.Header) }):
		return fmt.Errorf("the header %s holds the token already; take header:%s out", tokens.Header, tokens.Header)
	}
	return nil
}

// TokenPurpose is the purpose of the form tokens that the route takes, empty for none.
func (t Route) TokenPurpose() string {
	for _, source := range t.Keys {
		if source.Kind == KeyFormToken {
			return source.Name
		}
	}
	return ""
}

// checkFormToken says why the route cannot take tokens of a purpose.
func (t *Route) checkFormToken(purpose string) error {
	if t.TokenPurpose() != "" {
		return errors.New("a route takes the tokens of one purpose; write one form-token, and give other forms routes of their own")
	}
	if err := onetime.CheckPurpose(purpose); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "onetime: "))
	}
	return nil
}
