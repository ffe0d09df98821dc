package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/cmd/semel/internal/token"
	"github.com/semel-go/semel/semelhttp"
)

// principalOf returns the function that tells callers apart. A principal is the
// rule, an equals sign and the caller's value, such as
// "header:Authorization=Bearer k1" or "client-cert=CN=till-7,O=Shop": a change of
// the rule lets no two kinds of callers meet. `semel keys --principal` takes it.
func (g *Gateway) principalOf(p settings.Principal) semelhttp.PrincipalFunc {
	switch p.Kind {
	case settings.PrincipalJWT:
		return g.claimPrincipal(p)
	case settings.PrincipalHeader:
		return prefixed(p, semelhttp.HeaderPrincipal(p.Name))
	case settings.PrincipalCookie:
		return prefixed(p, semelhttp.CookiePrincipal(p.Name))
	case settings.PrincipalCert:
		return prefixed(p, certPrincipal)
	}
	return semelhttp.Global
}

func prefixed(p settings.Principal, value semelhttp.PrincipalFunc) semelhttp.PrincipalFunc {
	prefix := p.String() + "="
	return func(r *http.Request) (string, error) {
		v, err := value(r)
		if v == "" || err != nil {
			return "", err
		}
		return prefix + v, nil
	}
}

// certPrincipal is the identity of a verified client certificate: its URI (as
// SPIFFE has it), else its subject in the form of RFC 2253. Both outlive a renewal of the
// certificate.
func certPrincipal(r *http.Request) (string, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return "", nil
	}
	leaf := r.TLS.VerifiedChains[0][0]
	if len(leaf.URIs) > 0 {
		return leaf.URIs[0].String(), nil
	}
	if subject := leaf.Subject.String(); subject != "" {
		return subject, nil
	}
	return "", errors.New("the client certificate has neither a URI nor a subject")
}

// claimPrincipal is a claim of a verified bearer token. Names are unique to one
// issuer, so where any may come, the issuer is a part of the principal:
// jwt+iss:sub="https://issuer.example" "alice".
func (g *Gateway) claimPrincipal(p settings.Principal) semelhttp.PrincipalFunc {
	verifier := &token.Verifier{Keys: g.deps.Keys, Issuer: g.cfg.JWT.Issuer, Audience: g.cfg.JWT.Audience}
	return func(r *http.Request) (string, error) {
		text, ok := bearer(r)
		if !ok {
			return "", nil
		}
		claims, err := verifier.Verify(r.Context(), text)
		if err != nil {
			g.deps.Metrics.TokenRefused(err)
			return "", err
		}
		value, ok := claims.Text(p.Name)
		switch {
		case !ok:
			g.deps.Metrics.TokenRefused(errNoClaim)
			return "", errNoClaim
		case verifier.Issuer == "":
			return fmt.Sprintf("jwt+iss:%s=%q %q", p.Name, claims.Issuer, value), nil
		}
		return p.String() + "=" + value, nil
	}
}

var errNoClaim = errors.New("the token has no such claim, or it is no string")

// bearer is the token of the one Authorization header (RFC 6750).
func bearer(r *http.Request) (string, bool) {
	lines := r.Header["Authorization"]
	if len(lines) != 1 {
		return "", false
	}
	scheme, text, _ := strings.Cut(lines[0], " ")
	return strings.TrimLeft(text, " "), strings.EqualFold(scheme, "Bearer") && text != ""
}

// scopeHeader is where the scope of a rule is in a request, if it is in a header.
func scopeHeader(p settings.Principal) (string, bool) {
	switch p.Kind {
	case settings.PrincipalHeader:
		return p.Name, true
	case settings.PrincipalCookie:
		return "Cookie", true
	case settings.PrincipalJWT:
		return "Authorization", true
	}
	return "", false
}

// scopeHeaders are those of all rules.
func scopeHeaders(cfg *settings.Proxy) []string {
	var names []string
	for _, route := range append(slices.Clone(cfg.Routes), cfg.Rest()) {
		if name, ok := scopeHeader(route.Principal); ok {
			names = append(names, name)
		}
	}
	return names
}
