package proxy_test

import (
	"net/http"
	"testing"
)

func (a answer) allows() string { return a.header.Get("Access-Control-Allow-Origin") }

// A page of another origin reads first answers, replays and problems alike; what
// is allowed is computed for the origin that asks.
func TestCORS(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "OPTIONS" {
			w.Header().Set("X-From", "upstream")
		}
	})
	const shop, admin = "https://shop.example", "https://admin.example"
	g := startFile(t, up.URL, `
routes:
  - path: /orders
    require-key: true
    cors: {origins: [`+shop+`, `+admin+`], credentials: true, max-age: 10m}
  - path: /orders
    methods: [DELETE]
  - path: /passed
    cors: {origins: ['*'], preflight: pass}
`)
	for _, origin := range []string{shop, admin} {
		a := g.send("POST", "/orders", "k-1", "tea", "Origin: "+origin)
		if a.allows() != origin || a.header.Get("Access-Control-Allow-Credentials") != "true" || a.replayed() != (origin == admin) {
			t.Errorf("%s: %v", origin, a.header)
		}
	}
	for name, a := range map[string]answer{
		"missing key":     g.send("POST", "/orders", "", "tea", "Origin: "+shop),
		"reused":          g.send("POST", "/orders", "k-1", "coffee", "Origin: "+shop),
		"another method":  g.send("DELETE", "/orders", "k-2", "", "Origin: "+shop),
		"unguarded":       g.send("GET", "/orders", "", "", "Origin: "+shop),
		"of no one route": g.send("PATCH", "/orders", "k-3", "", "Origin: "+shop),
	} {
		if a.allows() != shop {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
	}
	for name, a := range map[string]answer{
		"stranger":       g.send("POST", "/orders", "k-1", "tea", "Origin: https://evil.example"),
		"no origin":      g.send("POST", "/orders", "k-1", "tea"),
		"without a cors": g.send("POST", "/other", "k-4", "tea", "Origin: "+shop),
	} {
		if a.allows() != "" {
			t.Errorf("%s: %v", name, a.header)
		}
	}
	preflight := func(path string) answer {
		return g.send("OPTIONS", path, "", "", "Origin: "+shop, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: idempotency-key")
	}
	if a := preflight("/orders"); a.allows() != shop || a.header.Get("Access-Control-Max-Age") != "600" || a.header.Get("Access-Control-Allow-Headers") == "" || a.header.Get("X-From") != "" {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
	for _, path := range []string{"/passed", "/other"} {
		if a := preflight(path); a.header.Get("X-From") != "upstream" {
			t.Errorf("%s: the preflight did not reach the service: %v", path, a.header)
		}
	}
}

// The authoriser's refusals can be read by a page, too, and preflights, which
// carry no credentials, are no question to it.
func TestCORSBeforeTheAuthoriser(t *testing.T) {
	t.Parallel()
	auth := newAuthoriser(t, nil)
	auth.says(403)
	up := numbered(t)
	g := startFile(t, up.URL, "routes:\n  - {path: /, cors: {origins: ['*']}}\n", "--authorize="+auth.URL)
	if a := g.send("OPTIONS", "/orders", "", "", "Origin: https://a.example", "Access-Control-Request-Method: POST"); a.status >= 300 || a.allows() == "" {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
	auth.wantAsked(t, 0)
	a := g.post("k-1", "tea", "Origin: https://a.example")
	a.want(t, 403, "replay-forbidden")
	if a.allows() == "" {
		t.Errorf("got %v", a.header)
	}
}
