package semelhttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// Field fault: key not bound to the caller: one user's response and cookie served
// to another. Nor does an error tell that the key exists.
func TestTwoPrincipalsNeverMeet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, "for "+r.Header.Get("X-User")) })
	w.post("b").is(t, 200, "for "+alice)
	first := w.post("another body", as(bob))
	first.is(t, 200, "for "+bob)
	if first.replayed() {
		t.Error("bob got a replay")
	}
	replays(t, first, w.post("another body", as(bob)))
	w.ran(2)
}

func TestPrincipals(t *testing.T) {
	t.Parallel()
	request := func(changes ...change) *http.Request {
		r, _ := http.NewRequest("POST", "/", nil)
		for _, c := range changes {
			c(r)
		}
		return r
	}
	tests := []struct {
		name string
		f    semelhttp.PrincipalFunc
		r    *http.Request
		want string
		fail bool
	}{
		{"header", semelhttp.HeaderPrincipal("x-user"), request(as("a")), "a", false},
		{"no header", semelhttp.HeaderPrincipal("X-User"), request(), "", false},
		{"two headers", semelhttp.HeaderPrincipal("X-User"), request(header("X-User", "a", "a")), "", true},
		{"cookie", semelhttp.CookiePrincipal("sid"), request(header("Cookie", "other=1; sid=a")), "a", false},
		{"no cookie", semelhttp.CookiePrincipal("sid"), request(header("Cookie", "other=1")), "", false},
		{"two cookies", semelhttp.CookiePrincipal("sid"), request(header("Cookie", "sid=a; sid=b")), "", true},
		{"global", semelhttp.Global, request(), semel.Global, false},
	}
	for _, tt := range tests {
		if got, err := tt.f(tt.r); got != tt.want || (err != nil) != tt.fail {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	w := newWorld(t, nil, echo)
	w.post("b", header("X-User", alice, alice)).isProblem(t, 401, "no-principal")
	w.ran(0)
}

// The rule for anonymous callers keeps them apart from accounts of the same name.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	rule := func(r *http.Request) (string, error) {
		if r.Header.Get("X-Banned") != "" {
			return "", errors.New("canary")
		}
		return alice, nil
	}
	w := newWorld(t, &setup{http: semelhttp.Options{Anonymous: rule}}, echo)
	nobody := func(r *http.Request) { r.Header.Del("X-User") }
	first := w.post("from nobody", nobody)
	w.post("from alice").is(t, 201, "from alice")
	replays(t, first, w.post("from nobody", nobody))
	w.post("b", nobody, header("X-Banned", "1")).isProblem(t, 401, "no-principal")
	if got := w.record(semelhttp.AnonymousPrincipal(alice), "", key1).State; got != semel.StateDone {
		t.Errorf("the record is %v", got)
	}
	w.ran(2)
}

// What makes another request of the same key, and what does not.
//
// Field faults: key not bound to path: second endpoint never executed; query
// ignored; only the first N bytes hashed. Threats: query order; payloads that
// differ but digest alike.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30_000)
	const query = "/charges?b=2&a=1&a=2&c"
	tests := []struct {
		name         string
		method, path string
		body         string
		changes      []change
		same         bool
	}{
		{"the same", "POST", query, long, nil, true},
		{"chunked", "POST", query, long, []change{func(r *http.Request) { r.ContentLength = -1 }}, true},
		{"parameter of the type", "POST", query, long, []change{header("Content-Type", "Text/Plain ; charset=latin1")}, true},
		{"order of two names", "POST", "/charges?a=1&b=2&a=2&c", long, nil, true},
		{"another header", "POST", query, long, []change{header("If-Match", "stale")}, true},
		{"method", "PATCH", query, long, nil, false},
		{"path", "POST", "/refunds?b=2&a=1&a=2&c", long, nil, false},
		{"escaped path", "POST", "/%63harges?b=2&a=1&a=2&c", long, nil, false},
		{"order of one name", "POST", "/charges?b=2&a=2&a=1&c", long, nil, false},
		{"value", "POST", "/charges?b=2&a=1&a=3&c", long, nil, false},
		{"no query", "POST", "/charges", long, nil, false},
		{"c= for c", "POST", "/charges?b=2&a=1&a=2&c=", long, nil, false},
		{"last byte", "POST", query, long[1:] + "x", nil, false},
		{"shorter", "POST", query, long[:len(long)-1], nil, false},
		{"empty", "POST", query, "", nil, false},
		{"type", "POST", query, long, []change{header("Content-Type", "text/csv")}, false},
		{"no type", "POST", query, long, []change{func(r *http.Request) { r.Header.Del("Content-Type") }}, false},
		{"encoding", "POST", query, long, []change{header("Content-Encoding", "br")}, false},
	}
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(201) })
	plain := header("Content-Type", "text/plain")
	first := w.do(w.request("POST", query, long, plain))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			again := w.do(w.request(tt.method, tt.path, tt.body, append([]change{plain}, tt.changes...)...))
			if tt.same {
				replays(t, first, again)
			} else {
				again.isProblem(t, 422, "key-reused")
			}
		})
	}
	w.ran(1)
}

// The label of a record, short and of few values.
func TestLabels(t *testing.T) {
	t.Parallel()
	mux := func(next http.Handler) http.Handler {
		m := http.NewServeMux()
		m.Handle("POST /charges", next)
		return m
	}
	custom := func(*http.Request) string { return "mine" }
	tests := map[string]*setup{"POST": nil, "POST /charges": {outer: mux}, "mine": {outer: mux, http: semelhttp.Options{Route: custom}}}
	for want, s := range tests {
		w := newWorld(t, s, echo)
		w.post("b")
		if got := w.record(alice, "", key1).Operation; got != want {
			t.Errorf("the label is %q, want %q", got, want)
		}
	}
}

// A label of any length is one that the engine takes: no pattern makes the guard refuse.
func TestLabelsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 195)
	pattern := "POST /" + strings.Repeat("a", 192) + "é/{id}"
	tests := map[string]struct{ given, want string }{
		"at the limit": {long + "12345", long + "12345"}, "over it": {long + "123456", long + "12345"},
		"within a rune": {long + "1234é", long + "1234"}, "before a rune": {long + "123é6", long + "123é"},
		"control characters": {"a\tb\x00\u0085c", "a b  c"}, "no UTF-8": {"a\xffb", "a\ufffdb"},
	}
	for name, tt := range tests {
		w := newWorld(t, &setup{http: semelhttp.Options{Route: func(*http.Request) string { return tt.given }}}, echo)
		w.post("b").is(t, 201, "b")
		if got := w.record(alice, "", key1).Operation; got != tt.want {
			t.Errorf("%s: the label is %q, want %q", name, got, tt.want)
		}
	}
	outer := func(next http.Handler) http.Handler {
		m := http.NewServeMux()
		m.Handle(pattern, next)
		return m
	}
	w := newWorld(t, &setup{outer: outer}, echo)
	w.do(w.request("POST", "/"+strings.Repeat("a", 192)+"é/7", "b")).is(t, 201, "b")
}

// Golden: records must be found, and fingerprints match, after an upgrade too.
// Field fault: key format changed by an upgrade orphans everything in flight.
func TestIdentityIsStable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	w.do(w.request("POST", "/a%20b?b=2&a=1", `{"amount":10}`, header("Content-Type", "application/json; charset=utf-8"), header("Content-Encoding", "identity")))
	body, contentType := form("one", nil)
	w.post(body, contentType, header("Idempotency-Key", "form"))
	tests := map[string]string{
		key1:   "96efb5de5d187891840972e6ea2c6bc6 01e8b979e9e6b0b47045316e9f57bf962ab4d62e67dba0ee318f60d64ec516bf47",
		"form": "ad0589783a2513bef75eb3e53bd6881f 01732c2b879a87adf0ee81849ff55a9ad440a9e6dae5982433f5232f0d2b852987",
	}
	for key, want := range tests {
		rec := w.record(alice, "", key)
		if got := fmt.Sprintf("%v %x", rec.Key, rec.Fingerprint); got != want {
			t.Errorf("%s: key and fingerprint %s, want %s", key, got, want)
		}
	}
}

// Field fault: missing body hashed as a shared constant: any two bodyless POSTs
// block each other.
func TestBodylessRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	w.post("", header("Idempotency-Key", "a")).is(t, 201, "")
	w.post("", header("Idempotency-Key", "b")).is(t, 201, "")
	replays(t, reply{Response: &http.Response{StatusCode: 201}}, w.post("", header("Idempotency-Key", "a")))
	w.ran(2)
}

// Field fault: key recomputed at completion from input that the handler changed.
func TestHandlerMayChangeTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		r.Method, r.URL.Path, r.URL.RawQuery = "PATCH", "/elsewhere", "x=y"
		r.Header.Set("X-User", bob)
		r.Header.Set("Idempotency-Key", "other")
		rw.WriteHeader(201)
	})
	first := w.post("b")
	replays(t, first, w.post("b"))
	w.ran(1)
}

func TestPerRoute(t *testing.T) {
	t.Parallel()
	route := func(r *http.Request) string {
		name, _, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		if name == "default" {
			return ""
		}
		return name
	}
	w := newWorld(t, &setup{http: semelhttp.Options{PerRoute: route}}, func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, r.URL.Path) })
	send := func(path string) reply { return w.do(w.request("POST", path, "b")) }
	first := send("/charges/1")
	send("/refunds/1").is(t, 200, "/refunds/1")
	replays(t, first, send("/charges/2")) // the route stands for the path
	send("/default/1").is(t, 200, "/default/1")
	send("/default/2").isProblem(t, 422, "key-reused")
	w.ran(3)
}

// Methods without effects pass with any key, and so do those that nobody asked
// to guard. A method-override header changes nothing.
func TestMethods(t *testing.T) {
	t.Parallel()
	send := func(w *world, method, key string, changes ...change) {
		changes = append(changes, header("Idempotency-Key", key))
		w.do(w.request(method, "/charges", "", changes...)).is(t, 200, "")
	}
	ok := func(http.ResponseWriter, *http.Request) {}
	w := newWorld(t, nil, ok)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"} {
		for _, key := range []string{key1, "bad,key", ""} {
			send(w, method, key)
			send(w, method, key)
		}
	}
	w.ran(6 * 3 * 2)
	w.state(semel.StateNone)
	send(w, "GET", key1, header("X-HTTP-Method-Override", "POST"))
	w.state(semel.StateNone)
	send(w, "PATCH", key1, header("X-HTTP-Method-Override", "GET"))
	w.state(semel.StateDone)

	all := newWorld(t, &setup{http: semelhttp.Options{Methods: []string{"POST", "PUT", "DELETE"}}}, ok)
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		send(all, method, method)
		send(all, method, method)
	}
	send(all, "PATCH", key1)
	send(all, "PATCH", key1)
	all.ran(3 + 2)
}

// Without a key an optional route passes as it is, and nothing is stored.
func TestNoKeyPasses(t *testing.T) {
	t.Parallel()
	var writers []string
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		writers = append(writers, fmt.Sprintf("%T", rw))
		echo(rw, r)
	})
	w.store.bend(func(s *faultStore) { s.claim = errors.New("not to be asked") })
	for range 2 {
		w.post("b", func(r *http.Request) { r.Header.Del("Idempotency-Key") }).is(t, 201, "b")
	}
	if writers[0] != "*http.response" {
		t.Errorf("the handler got a %s", writers[0])
	}
	w.ran(2)
}
