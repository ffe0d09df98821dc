package semelhttp

import (
	"errors"
	"net/http"

	"github.com/semel-go/semel"
)

// PrincipalFunc says whose request it is: the tenant, account or user to whom
// keys belong. Two principals with the same key never meet. It runs after
// authentication and must rely on nothing that a client can forge.
//
// An empty principal means nobody: see [Options.Anonymous]. An error refuses the
// request with 401 no-principal; its text goes nowhere.
type PrincipalFunc func(r *http.Request) (string, error)

// Global is the principal of services with one trusted caller: all requests
// share one scope, so whoever knows a key gets its answer.
func Global(*http.Request) (string, error) { return semel.Global, nil }

// HeaderPrincipal takes the value of a header as the principal. The header has
// to be set by a proxy in front, or to be a credential in itself, such as
// Authorization with static API keys. More than one line of it is refused. For what is
// no header name it returns nil, which [New] refuses.
func HeaderPrincipal(name string) PrincipalFunc {
	if !isToken(name) {
		return nil
	}
	name = http.CanonicalHeaderKey(name)
	return func(r *http.Request) (string, error) {
		switch lines := r.Header[name]; len(lines) {
		case 0:
			return "", nil
		case 1:
			return lines[0], nil
		}
		return "", errors.New("semelhttp: the principal's header came more than once")
	}
}

// CookiePrincipal takes the value of a cookie as the principal, such as a
// session id. More than one cookie of the name is refused. For what is no cookie name it
// returns nil, which [New] refuses.
func CookiePrincipal(name string) PrincipalFunc {
	if !isToken(name) {
		return nil
	}
	return func(r *http.Request) (string, error) {
		switch cookies := r.CookiesNamed(name); len(cookies) {
		case 0:
			return "", nil
		case 1:
			return cookies[0].Value, nil
		}
		return "", errors.New("semelhttp: the principal's cookie came more than once")
	}
}

// AnonymousPrincipal is the principal under which the middleware keeps the
// records of a caller for whom [Options.Anonymous] returned rule. It differs from
// every principal that a [PrincipalFunc] takes from a request, so that nobody can
// pass for an account by being called like one.
func AnonymousPrincipal(rule string) string { return "\x00anonymous:" + rule }

// principalOf returns whose request it is, or false for nobody.
func (m *middleware) principalOf(r *http.Request) (string, bool) {
	return callerOf(r, m.principal, m.opts.Anonymous)
}

// callerOf returns whose request it is, or false for nobody. anonymous may be nil.
func callerOf(r *http.Request, principal, anonymous PrincipalFunc) (string, bool) {
	p, err := principal(r)
	if err != nil {
		return "", false
	}
	if p != "" || anonymous == nil {
		return p, p != ""
	}
	p, err = anonymous(r)
	return AnonymousPrincipal(p), err == nil && p != ""
}
