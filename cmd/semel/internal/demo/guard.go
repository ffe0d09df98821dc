package demo

import (
	"net"
	"net/http"
)

// contentPolicy lets the page load what this server serves, and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded refuses what another site's page could make a browser send: requests
// to a foreign name that resolves to this machine (DNS rebinding), and requests
// from another origin.
func guarded(h http.Handler) http.Handler {
	sameOrigin := http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(hostOf(r.Host)) {
			http.Error(w, "this demo answers to localhost and 127.0.0.1 alone", http.StatusMisdirectedRequest)
			return
		}
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		sameOrigin.ServeHTTP(w, r)
	})
}

// hostOf is the name in a Host header, without port and brackets.
func hostOf(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	if n := len(hostPort); n > 2 && hostPort[0] == '[' && hostPort[n-1] == ']' {
		return hostPort[1 : n-1]
	}
	return hostPort
}
