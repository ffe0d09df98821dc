package settings

import (
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/semel-go/semel"
)

// maxBody is the greatest body that is kept in memory.
const maxBody = 1 << 30

// check refuses settings that contradict each other.
func (p *Proxy) check(r *reader) {
	r.refuse("lease", p.Lease < time.Second, "%v is below 1s: a pause of the process would end it; use 1s or more", p.Lease)
	r.refuse("retention", p.Retention < time.Second, "%v is below 1s; use 1s or more, or forever", p.Retention)
	if r.failed["retention"] {
		p.Retention = semel.Forever // so that nothing else is blamed for it
	}
	r.refuse("lease", p.Lease >= p.Retention, "%v is not below --retention %v: a record would expire while it runs; raise --retention", p.Lease, p.Retention)
	r.refuse("wait", p.Wait >= p.Retention, "%v is not below --retention %v: the answer could expire before it is read; lower --wait", p.Wait, p.Retention)
	r.refuse("upstream-idle-timeout", p.UpstreamIdleTimeout == 0, "0s would keep connections for ever, past the upstream's keep-alive; use 1s")
	r.refuse("shutdown-timeout", p.ShutdownTimeout == 0, "0s would cut running requests; use 30s")
	r.refuse("admin", p.Admin != "" && sameAddress(p.Admin, p.Listen), "%s is --listen too; choose another port, or off", p.Admin)
	r.refuse("max-request-body", p.MaxRequestBody > maxBody, "more than 1GiB would have to fit into memory; use 1GiB or less")
	r.refuse("max-response-body", p.MaxResponseBody > maxBody, "more than 1GiB would have to fit into memory; use 1GiB or less")
	p.checkUpstream(r)
	p.checkTLS(r)
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
	r.refuse("principal", p.Principal.Kind == PrincipalCert && p.TLS.ClientCA == "", "client-cert needs --tls-client-ca (with --tls-cert and --tls-key), which says whose certificates count")
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
