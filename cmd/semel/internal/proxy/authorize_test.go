package proxy_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// authoriser is a service that says yes or no, on a real listener.
type authoriser struct {
	*httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func newAuthoriser(t *testing.T, answer http.HandlerFunc) *authoriser {
	a := &authoriser{}
	a.answer.Store(&answer)
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.asked.Add(1)
		(*a.answer.Load())(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *authoriser) says(status int) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
	a.answer.Store(&answer)
}

func (a *authoriser) wantAsked(t *testing.T, n int64) {
	t.Helper()
	if got := a.asked.Load(); got != n {
		t.Errorf("the authoriser was asked %d times, want %d", got, n)
	}
}

// A permission that was withdrawn keeps the recorded answer back, too.
func TestAuthorizeClaimAndReplay(t *testing.T) {
	t.Parallel()
	auth := newAuthoriser(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })
	up := numbered(t)
	g := start(t, up.URL, "--authorize="+auth.URL+"/check")
	if a := g.post("k-1", "tea"); a.body != "execution 1" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if a := g.post("k-1", "tea"); !a.replayed() {
		t.Errorf("got %d %s", a.status, a.body)
	}
	auth.wantAsked(t, 2)
	auth.says(403)
	for _, key := range []string{"k-1", "k-2"} {
		a := g.post(key, "tea")
		a.want(t, 403, "replay-forbidden")
		if strings.Contains(a.body, "before") {
			t.Errorf("the refusal tells what was: %s", a.body)
		}
	}
	up.wantExecuted(t, 1)
	auth.says(200)
	if a := g.post("k-2", "tea"); a.body != "execution 2" {
		t.Errorf("a refused key is not free: %d %s", a.status, a.body)
	}
	asked := auth.asked.Load()
	g.post("", "tea")
	g.send("GET", "/", "k-1", "")
	auth.wantAsked(t, asked) // nothing is claimed or replayed there
}

// Field fault: an error lets the request through unguarded. No answer of the
// authoriser is a yes but 2xx.
func TestAuthorizeNeverFailsOpen(t *testing.T) {
	t.Parallel()
	auth := newAuthoriser(t, nil)
	up := numbered(t)
	g := start(t, up.URL, "--authorize="+auth.URL, "--authorize-timeout=300ms")
	auth.says(401)
	refused := g.post("k-1", "tea")
	refused.want(t, 401, "no-principal")
	if refused.header.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("got %v", refused.header)
	}
	for _, status := range []int{300, 301, 302, 307, 304, 400, 402, 404, 429, 500, 503} {
		auth.says(status)
		a := g.post("k-1", "tea")
		a.want(t, 503, "store-unavailable")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%d: no Retry-After", status)
		}
	}
	hang := make(chan struct{})
	for name, answer := range map[string]http.HandlerFunc{
		"silent":    func(w http.ResponseWriter, r *http.Request) { <-hang },
		"cut":       func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
		"malformed": func(w http.ResponseWriter, r *http.Request) { raw(w, "HTTP/1.1 CANARY\r\n\r\n") },
		"redirect to a yes": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/yes" {
				http.Redirect(w, r, "/yes", http.StatusFound)
			}
		},
	} {
		auth.answer.Store(&answer)
		if a := g.post("k-1", "tea"); a.status != 503 || a.code() != "store-unavailable" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	close(hang)
	auth.Close()
	g.post("k-1", "tea").want(t, 503, "store-unavailable")
	up.wantExecuted(t, 0)
	if strings.Contains(g.logs.String(), "CANARY") {
		t.Error("the log quotes the authoriser")
	}
	_, text := g.admin("/metrics")
	for _, want := range []string{`semel_authorize_seconds_count{answer="no"} 1`, `semel_authorize_seconds_count{answer="none"} 16`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s", want)
		}
	}
}

// Where nothing is claimed for good and nothing replayed, nobody is asked, and so
// nobody refused; headers are taken from clients all the same.
func TestAuthorizeNotWhereNothingIsGuarded(t *testing.T) {
	t.Parallel()
	auth := newAuthoriser(t, nil)
	auth.says(403)
	up, seen := recorder(t)
	g := startFile(t, up.URL, "routes:\n  - {path: /seen, observe: true}\n  - {path: /off, enabled: false}\n", "--authorize="+auth.URL, "--authorize-headers=X-User")
	for _, path := range []string{"/seen", "/off"} {
		if a := g.send("POST", path, "k-1", "tea", "X-User: root"); a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		if r := <-seen; r.Header.Get("X-User") != "" {
			t.Errorf("%s: the client's X-User passed", path)
		}
	}
	auth.wantAsked(t, 0)
}

// The authoriser is asked about the caller whom the upstream sees, and about the
// request as it came; nothing that a client says of the way counts.
func TestWhatTheAuthoriserSees(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 1)
	auth := newAuthoriser(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 {
			t.Errorf("the authoriser got a body: %q", body)
		}
		seen <- r
	})
	up := numbered(t)
	g := start(t, up.URL, "--authorize="+auth.URL+"/check?a=b", "--principal=header:X-Tenant")
	g.send("PATCH", "/orders/7?x=1&y", "k-1", "tea", "X-Tenant: red", "Cookie: a=b", "Connection: X-Tenant, X-Hop", "X-Hop: 1",
		"X-Forwarded-Uri: /public", "X-Forwarded-Prefix: /p", "Forwarded: for=1", "If-Match: \"v1\"", "Content-Type: text/plain", "Te: trailers")
	r := <-seen
	host, _, _ := net.SplitHostPort(strings.TrimPrefix(g.url, "http://"))
	for name, want := range map[string]string{
		"X-Forwarded-Method": "PATCH", "X-Forwarded-Uri": "/orders/7?x=1&y", "X-Forwarded-Host": strings.TrimPrefix(g.url, "http://"),
		"X-Forwarded-Proto": "http", "X-Forwarded-For": host, "X-Tenant": "red", "Cookie": "a=b", "Idempotency-Key": "k-1", "Content-Type": "text/plain",
		"X-Hop": "", "X-Forwarded-Prefix": "", "Forwarded": "", "If-Match": "", "Content-Length": "", "Te": "", "Connection": "",
	} {
		if got := strings.Join(r.Header[name], "|"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if r.Method != "GET" || r.URL.RequestURI() != "/check?a=b" || r.Host != strings.TrimPrefix(auth.URL, "http://") {
		t.Errorf("asked %s %s at %s", r.Method, r.URL, r.Host)
	}
}

// The authoriser's headers reach the upstream, a client's under the same names
// never do, and a Connection header takes them from nobody.
func TestAuthorizeHeaders(t *testing.T) {
	t.Parallel()
	auth := newAuthoriser(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-User") != "" {
			t.Error("the authoriser sees the client's X-User")
		}
		w.Header().Set("X-User", "alice")
		w.Header().Set("X-Team", "tea")
		w.Header().Set("X-Secret", "s")
	})
	up, seen := recorder(t)
	g := start(t, up.URL, "--authorize="+auth.URL, "--authorize-headers=x-user, X-Roles,X-Team", "--principal=header:X-User")
	g.post("k-1", "tea", "X-User: root", "X-Roles: admin", "Connection: X-User, X-Roles, X-Team")
	if r := <-seen; r.Header.Get("X-User") != "alice" || r.Header.Get("X-Team") != "tea" || r.Header.Get("X-Roles") != "" || r.Header.Get("X-Secret") != "" {
		t.Errorf("the upstream saw %v", r.Header)
	}
	g.post("", "tea", "X-User: root")
	if r := <-seen; r.Header.Get("X-User") != "" {
		t.Errorf("without a key the upstream saw the client's %v", r.Header)
	}
}
