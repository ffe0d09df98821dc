package proxy

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// rewriter makes the outgoing request.
type rewriter struct {
	upstream  *url.URL
	principal settings.Principal
	forward   settings.KeyForward
	granted   []string // headers that the authoriser gave
	keys      []string // headers of the route's keys
}

func (rw *rewriter) rewrite(pr *httputil.ProxyRequest) {
	pr.SetURL(rw.upstream)
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery // as fingerprinted; the upstream reads it, not we
	dropForwarded(pr.Out.Header)
	pr.SetXForwarded()
	pr.Out.Header.Del("Expect") // the body is here already
	pr.Out.Header.Del("Http2-Settings")
	rw.keepScope(pr)
	rw.setKey(pr)
	pr.Out.Trailer = pr.In.Trailer // the very map: it is filled when the body has been read
	pr.Out.GetBody = nil           // with it the transport could send the request again
}

// dropForwarded removes what a client claims about the way here. ReverseProxy
// removes only the headers that SetXForwarded sets.
func dropForwarded(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded-") {
			delete(h, name)
		}
	}
}

// keepScope undoes a Connection header that names the scope's header as
// hop-by-hop, or one that the authoriser gave: the upstream must see the caller
// whom the gateway saw.
func (rw *rewriter) keepScope(pr *httputil.ProxyRequest) {
	if name, ok := scopeHeader(rw.principal); ok {
		restore(pr, name)
	}
	for _, name := range rw.granted {
		restore(pr, name)
	}
}

func restore(pr *httputil.ProxyRequest, name string) {
	if v := pr.In.Header[name]; len(v) > 0 {
		pr.Out.Header[name] = v
	}
}

// setKey sends the key under the lower-case map key, where the transport does
// not see it; on the wire the name of a header has no case.
func (rw *rewriter) setKey(pr *httputil.ProxyRequest) {
	for _, name := range slices.Concat(keyHeaders, rw.keys) {
		values := pr.In.Header[name]
		delete(pr.Out.Header, name)
		if len(values) > 0 && rw.forward != settings.ForwardStrip {
			pr.Out.Header[strings.ToLower(name)] = values
		}
	}
	run, guarded := semel.RunFrom(pr.In.Context())
	if guarded && rw.forward == settings.ForwardDerive {
		pr.Out.Header[derivedHeader] = []string{`"` + run.Derive("upstream") + `"`}
	}
}

const derivedHeader = "idempotency-key"
