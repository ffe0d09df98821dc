package settings

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
)

// MaxBody is the greatest body that is kept in memory.
const MaxBody = 1 << 30

// check refuses settings that contradict each other.
func (p *Proxy) check(r *reader) {
	p.Rule.check(r)
	r.refuse("upstream-idle-timeout", p.UpstreamIdleTimeout == 0, "0s would keep connections for ever, past the upstream's keep-alive; use 1s")
	r.refuse("shutdown-timeout", p.ShutdownTimeout == 0, "0s would cut running requests; use 30s")
	r.refuse("admin", p.Admin != "" && sameAddress(p.Admin, p.Listen), "%s is --listen too; choose another port, or off", p.Admin)
	r.refuse("authorize-timeout", p.Authorize.Timeout == 0, "0s would let a silent authoriser hold every request; use 2s")
	p.checkUpstream(r)
	p.checkTLS(r)
	p.checkJWT(r)
	p.checkAuthorize(r)
}

func (p *Proxy) checkUpstream(r *reader) {
	if p.Upstream == nil {
		return
	}
	target := hostPort(p.Upstream)
	r.refuse("upstream", sameAddress(target, p.Listen), "%s is --listen: the gateway would call itself; name the service behind it", p.Upstream)
	r.refuse("upstream", p.Admin != "" && sameAddress(target, p.Admin), "%s is --admin: the gateway would call itself; name the service behind it", p.Upstream)
}

func (p *Proxy) checkTLS(r *reader) {
	r.refuse("tls-key", p.TLS.Cert != "" && p.TLS.Key == "", "--tls-cert needs it; name the private key's file")
	r.refuse("tls-cert", p.TLS.Key != "" && p.TLS.Cert == "", "--tls-key needs it; name the certificate's file")
	r.refuse("tls-client-ca", p.TLS.ClientCA != "" && p.TLS.Cert == "", "client certificates need a TLS listener; add --tls-cert and --tls-key")
	p.needs(r, p.Principal)
}

// needs refuses a principal for which something is missing.
func (p *Proxy) needs(r *reader, who Principal) {
	r.refuse("principal", who.Kind == PrincipalCert && p.TLS.ClientCA == "", "client-cert needs --tls-client-ca (with --tls-cert and --tls-key), which says whose certificates count")
	r.refuse("principal", who.Kind == PrincipalJWT && p.JWT.Keys == "", "jwt needs --jwks, which says whose tokens count: a file, or the URL that the issuer publishes as jwks_uri")
}

// checkJWT refuses rules for tokens where none is read: they would be taken for
// a protection.
func (p *Proxy) checkJWT(r *reader) {
	const unused = "no principal is jwt:CLAIM, so no token is read; say --principal jwt:sub, or take this out"
	used := p.uses(PrincipalJWT)
	r.refuse("jwks", p.JWT.Keys != "" && !used, unused)
	r.refuse("jwt-issuer", p.JWT.Issuer != "" && !used, unused)
	r.refuse("jwt-audience", len(p.JWT.Audience) > 0 && !used, unused)
}

// uses reports whether requests of any route are told apart by kind.
func (p *Proxy) uses(kind PrincipalKind) bool {
	return p.Principal.Kind == kind || slices.ContainsFunc(p.Routes, func(route Route) bool { return route.Principal.Kind == kind })
}

func (p *Proxy) checkAuthorize(r *reader) {
	a := p.Authorize
	r.refuse("authorize-headers", len(a.Headers) > 0 && a.URL == nil && !r.failed["authorize"], "nobody is asked; add --authorize URL")
	r.refuse("authorize", a.URL != nil && sameAddress(hostPort(a.URL), p.Listen), "this is --listen: the gateway would ask itself; name the authoriser")
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// sameAddress reports whether connecting to target would reach a listener on
// listen. A port of 0 is not known yet and matches nothing.
func sameAddress(target, listen string) bool {
	host, port, err := net.SplitHostPort(target)
	listenHost, listenPort, err2 := net.SplitHostPort(listen)
	if err != nil || err2 != nil || port != listenPort || port == "0" {
		return false
	}
	return host == listenHost || (isHere(host) && isHere(listenHost))
}

// isHere reports whether a host names this machine by loopback or as "any".
func isHere(host string) bool {
	if host == "" || host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}
