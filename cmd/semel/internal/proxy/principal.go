package proxy

import (
	"errors"
	"net/http"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/semelhttp"
)

// principalOf returns the function that tells callers apart. A principal is the
// rule, an equals sign and the caller's value, such as
// "header:Authorization=Bearer k1" or "client-cert=CN=till-7,O=Shop": a change of
// the rule lets no two kinds of callers meet. `semel keys --principal` takes it.
func principalOf(p settings.Principal) semelhttp.PrincipalFunc {
	switch p.Kind {
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
