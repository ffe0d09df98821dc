package semelhttp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// routed is a service whose mux knows one pattern, and calls the middleware for it.
func routed(t *testing.T, o semelhttp.Options) *world {
	t.Helper()
	mux := func(next http.Handler) http.Handler {
		m := http.NewServeMux()
		m.Handle("POST /polls/{poll}/votes", next)
		m.Handle("POST /{rest...}", next)
		return m
	}
	return newWorld(t, &setup{http: o, outer: mux}, echo)
}

func byPoll(more ...semelhttp.KeySource) semelhttp.Options {
	return semelhttp.Options{Keys: append(more, semelhttp.KeyPath("poll")), RequireKey: true}
}

// One vote a user a poll: neither a header nor another spelling of the path makes a
// second one.
//
// Threat: a client that chooses its own key.
func TestKeyInPath(t *testing.T) {
	t.Parallel()
	w := routed(t, byPoll())
	vote := func(path, body string, changes ...change) reply {
		return w.do(w.request("POST", path, body, changes...))
	}
	first := vote("/polls/p1/votes", "tea")
	first.is(t, 201, "tea")
	for name, again := range map[string]reply{
		"another key in a header": vote("/polls/p1/votes", "tea", header("Idempotency-Key", "other")),
		"no header":               vote("/polls/p1/votes", "tea", unkeyed),
		"a key that is none":      vote("/polls/p1/votes", "tea", header("Idempotency-Key", `bad"`)),
	} {
		t.Run(name, func(t *testing.T) { replays(t, first, again) })
		if again.Header.Get("Idempotency-Key") != "" {
			t.Errorf("%s: a key was echoed", name)
		}
	}
	vote("/polls/p1/votes", "coffee").isProblem(t, 422, "key-reused")
	vote("/polls/%701/votes", "tea").isProblem(t, 422, "key-reused") // the path is compared as it came
	vote("/polls/p1/votes", "tea", as("")).isProblem(t, 401, "no-principal")
	vote("/polls/p2/votes", "tea").is(t, 201, "tea")
	vote("/polls/p1/votes", "tea", as(bob)).is(t, 201, "tea")
	w.ran(3)
}

// What a wildcard may hold. The mux decodes it.
func TestTextOfKeyInPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 256)
	tests := []struct{ name, segment, key string }{ // key "": refused
		{"plain", "p-1", "p-1"},
		{"encoded", "%70-1", "p-1"},
		{"a slash", "a%2Fb", "a/b"},
		{"what a header could not hold", "%C3%A9%20%22", `é "`},
		{"a zero byte", "a%00", "a\x00"},
		{"U+FFFD", "%EF%BF%BD", "\uFFFD"},
		{"blank", "%20", ""},
		{"no UTF-8", "%FF", ""},
		{"over-long", long, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := routed(t, byPoll())
			send := func() reply { return w.do(w.request("POST", "/polls/"+tt.segment+"/votes", "tea", unkeyed)) }
			first := send()
			if tt.key == "" {
				first.isProblem(t, 400, "invalid-key")
				w.ran(0)
				return
			}
			replays(t, first, send())
			if got := w.record(alice, "", tt.key).State; got != semel.StateDone {
				t.Errorf("the record of %q is %v", tt.key, got)
			}
		})
	}
}

func TestKeyInPathIsChecked(t *testing.T) {
	t.Parallel()
	o := byPoll()
	o.MinKeyLength, o.MaxKeyLength, o.KeyFormat, o.StrictKeys = 2, 36, semelhttp.KeyUUID, true
	w := routed(t, o)
	for _, poll := range []string{"p", "p-1", strings.Repeat("p", 37)} {
		w.do(w.request("POST", "/polls/"+poll+"/votes", "tea")).isProblem(t, 400, "invalid-key")
	}
	w.do(w.request("POST", "/polls/0190d6b5-6f2c-7b5e-8d3a-2f4b6c8d0e1f/votes", "tea")).is(t, 201, "tea")
	w.ran(1)
}

// A header counts before the path, the path before the body.
func TestKeyInPathAmongOthers(t *testing.T) {
	t.Parallel()
	w := routed(t, byPoll(semelhttp.KeyBody("/id"), semelhttp.KeyHeader("X-Vote")))
	w.do(w.request("POST", "/polls/path/votes", `{"id":"body"}`))
	w.do(w.request("POST", "/polls/other/votes", `{"id":"body"}`, header("X-Vote", "head")))
	w.do(w.request("POST", "/polls/other/votes", "tea", header("X-Vote", ""))).isProblem(t, 400, "invalid-key")
	w.do(w.request("POST", "/else", `{"id":"body"}`))
	for _, key := range []string{"path", "head", "body"} {
		if got := w.record(alice, "", key).State; got != semel.StateDone {
			t.Errorf("the record of %q is %v", key, got)
		}
	}
	w.ran(3)
}

// Where no pattern with the wildcard matched, nothing runs unguarded.
func TestNoKeyInPath(t *testing.T) {
	t.Parallel()
	w := routed(t, byPoll())
	w.do(w.request("POST", "/else", "tea")).isProblem(t, 400, "missing-key")
	outside := newWorld(t, &setup{http: byPoll()}, echo)
	outside.do(outside.request("POST", "/polls/p1/votes", "tea")).isProblem(t, 400, "missing-key")
	derived := routed(t, semelhttp.Options{Keys: byPoll().Keys, Derived: &semelhttp.DerivedKey{Window: 10e9}})
	replays(t, derived.do(derived.request("POST", "/else", "tea")), derived.do(derived.request("POST", "/else", "tea")))
	w.ran(0)
	outside.ran(0)
	derived.ran(1)
}

// The route stands for the path, so that its spelling does not count.
func TestKeyInPathPerRoute(t *testing.T) {
	t.Parallel()
	o := byPoll()
	o.PerRoute = func(*http.Request) string { return "vote" }
	w := routed(t, o)
	first := w.do(w.request("POST", "/polls/p1/votes", "tea"))
	replays(t, first, w.do(w.request("POST", "/polls/%701/votes", "tea")))
	if got := w.record(alice, "vote", "p1").State; got != semel.StateDone {
		t.Errorf("the record is %v", got)
	}
	w.ran(1)
}
