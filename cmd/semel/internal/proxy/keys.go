package proxy

import (
	"net/http"
	"slices"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/semelhttp"
)

// keyHeaders are the names under which the net/http transport looks for a key:
// it sends a request that has one a second time when a reused connection dies.
var keyHeaders = []string{"Idempotency-Key", "X-Idempotency-Key"}

// mayClaim reports for a route which requests could be claimed or answered from
// a record. It may say yes too often, never too rarely. On an observed route none
// is: each reaches the upstream, which decides itself.
func mayClaim(route settings.Route) func(*http.Request) bool {
	if !route.Enabled || route.Observe {
		return func(*http.Request) bool { return false }
	}
	headers := keyHeadersOf(route)
	elsewhere := len(headers) < len(route.Keys) || route.Derived != nil
	return func(r *http.Request) bool {
		if !slices.Contains(route.Methods, r.Method) {
			return false
		}
		return elsewhere || slices.ContainsFunc(headers, func(name string) bool { return len(r.Header[name]) > 0 })
	}
}

// keyHeadersOf are the headers that may hold a key on a route.
func keyHeadersOf(route settings.Route) []string {
	if len(route.Keys) == 0 {
		return keyHeaders[:1]
	}
	var names []string
	for _, source := range route.Keys {
		if source.Kind == settings.KeyHeader {
			names = append(names, http.CanonicalHeaderKey(source.Name))
		}
	}
	return names
}

// keysOf are the places where semelhttp looks for keys; none means its default.
func (g *Gateway) keysOf(route settings.Route) []semelhttp.KeySource {
	var sources []semelhttp.KeySource
	for _, source := range route.Keys {
		switch source.Kind {
		case settings.KeyHeader:
			sources = append(sources, semelhttp.KeyHeader(source.Name))
		case settings.KeyBody:
			sources = append(sources, semelhttp.KeyBody(source.Name))
		case settings.KeyPath:
			sources = append(sources, semelhttp.KeyPath(source.Name))
		case settings.KeyForm:
			sources = append(sources, semelhttp.KeyForm(source.Name))
		case settings.KeyWebhook:
			sources = append(sources, semelhttp.KeyWebhook(source.Name))
		case settings.KeyFormToken:
			sources = append(sources, g.forms[source.Name].Key(source.Name))
		}
	}
	return sources
}
