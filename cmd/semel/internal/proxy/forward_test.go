package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// recorder is an upstream that hands each request's header on.
func recorder(t *testing.T) (*upstream, chan *http.Request) {
	seen := make(chan *http.Request, 16)
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		seen <- r
	})
	return up, seen
}

func TestWhatTheUpstreamSees(t *testing.T) {
	t.Parallel()
	up, seen := recorder(t)
	g := start(t, up.URL, "--principal=header:X-Tenant")
	a := g.send("POST", "/orders/a%2Fb?q=1;2&q=%zz", "k-1", "tea",
		"X-Tenant: acme", "Connection: X-Tenant, X-Private", "X-Private: secret", "Keep-Alive: 5", "Te: trailers",
		"X-Forwarded-For: 6.6.6.6", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: gopher", "X-Forwarded-Prefix: /admin", "Forwarded: for=6.6.6.6",
		"Expect: 100-continue", "Proxy-Authorization: Basic eA==")
	if a.status != 200 {
		t.Fatalf("got %d %s %v", a.status, a.body, a.err)
	}
	r := <-seen
	for name, want := range map[string]string{
		"X-Tenant":  "acme",                                                            // a Connection header cannot strip the scope
		"X-Private": "", "Keep-Alive": "", "Proxy-Authorization": "", "Connection": "", // hop by hop
		"Te":                 "trailers",
		"X-Forwarded-For":    "127.0.0.1",
		"X-Forwarded-Host":   strings.TrimPrefix(g.url, "http://"),
		"X-Forwarded-Proto":  "http",
		"X-Forwarded-Prefix": "",
		"Forwarded":          "",
		"Expect":             "",
		"Idempotency-Key":    "k-1",
		"Accept-Encoding":    "", // the gateway asks for nothing that the client did not
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if r.Host != strings.TrimPrefix(up.URL, "http://") {
		t.Errorf("Host %q: a client must not choose the upstream's virtual host", r.Host)
	}
	if r.RequestURI != "/orders/a%2Fb?q=1;2&q=%zz" {
		t.Errorf("the target changed on the way: %s", r.RequestURI)
	}
	if r.ContentLength != 3 {
		t.Errorf("Content-Length %d, want 3", r.ContentLength)
	}
}

// The same for a scope in a cookie, and for the key.
func TestConnectionCannotStripCookieAndKey(t *testing.T) {
	t.Parallel()
	up, seen := recorder(t)
	g := start(t, up.URL, "--principal=cookie:sid")
	g.post("k-1", "tea", "Cookie: sid=alice", "Connection: Cookie, Idempotency-Key")
	r := <-seen
	if r.Header.Get("Cookie") != "sid=alice" || r.Header.Get("Idempotency-Key") != "k-1" {
		t.Errorf("the upstream got %v", r.Header)
	}
}

// An empty body keeps its Content-Length: 0, and a query alone its path.
func TestEmptyBodyKeepsItsLength(t *testing.T) {
	t.Parallel()
	up, seen := recorder(t)
	g := start(t, up.URL)
	g.send("POST", "/?x=1", "k-1", "")
	r := <-seen
	if r.Header.Get("Content-Length") != "0" || len(r.TransferEncoding) > 0 {
		t.Errorf("Content-Length %q, Transfer-Encoding %q", r.Header.Get("Content-Length"), r.TransferEncoding)
	}
	if r.RequestURI != "/?x=1" {
		t.Errorf("target %s", r.RequestURI)
	}
}

func TestKeyForward(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mode, method string
		want         func(string) bool
	}{
		{"pass", "POST", func(s string) bool { return s == "k-1" }},
		{"strip", "POST", func(s string) bool { return s == "" }},
		{"derive", "POST", func(s string) bool { return len(s) == 38 && s[0] == '"' && !strings.Contains(s, "k-1") }},
		{"derive", "PUT", func(s string) bool { return s == "k-1" }}, // not guarded: nothing to derive from
		{"strip", "PUT", func(s string) bool { return s == "" }},
	} {
		t.Run(tc.mode+" "+tc.method, func(t *testing.T) {
			t.Parallel()
			up, seen := recorder(t)
			g := start(t, up.URL, "--key-forward="+tc.mode)
			g.send(tc.method, "/", "k-1", "tea")
			r := <-seen
			if got := r.Header.Get("Idempotency-Key"); !tc.want(got) || len(r.Header["Idempotency-Key"]) > 1 {
				t.Errorf("got %q", r.Header["Idempotency-Key"])
			}
		})
	}
}

// The derived key is the same on every attempt, and another one for each scope.
func TestDerivedKeyIsStable(t *testing.T) {
	t.Parallel()
	var keys []string
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(503) // released, so that the next attempt runs
	})
	g := start(t, up.URL, "--key-forward=derive", "--principal=header:X-Tenant")
	g.post("k-1", "", "X-Tenant: a")
	g.post("k-1", "", "X-Tenant: a")
	g.post("k-1", "", "X-Tenant: b")
	if len(keys) != 3 || keys[0] != keys[1] || keys[0] == keys[2] {
		t.Errorf("got %q", keys)
	}
}

// Every header that may hold the key is one to strip, and no other.
func TestStripOfARoutesKey(t *testing.T) {
	t.Parallel()
	up, seen := recorder(t)
	g := startFile(t, up.URL, "routes:\n  - {path: /, key: [header:X-Vote, 'webhook:github']}\n", "--key-forward=strip")
	if a := g.post("", "tea", "X-Vote: v", "X-Github-Delivery: v"); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if r := <-seen; r.Header.Get("X-Vote") != "" || r.Header.Get("X-Github-Delivery") != "v" {
		t.Errorf("the upstream saw %v", r.Header)
	}
}
