package semelhttp_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// whole is an answer with all its headers, sorted, but the Date.
func whole(r reply) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name != "Date" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header[name], " | "))
		}
	}
	return b.String() + r.body
}

// problem is what every answer of the layer looks like.
func problem(status int, code, title, detail, retry, retryAfter, extraHeader, extraMember string) string {
	docs := "https://semel-go.github.io/semel/problems#" + code
	body := fmt.Sprintf(`{"type":"%s","title":"%s","status":%d,"detail":"%s","code":"%s","retry":"%s"%s}`, docs, title, status, detail, code, retry, extraMember)
	if retryAfter != "" {
		retryAfter = "Retry-After: " + retryAfter + "\n"
	}
	return fmt.Sprintf("%d\nCache-Control: no-store\nContent-Language: en\nContent-Length: %d\nContent-Type: application/problem+json\nLink: <%s>; rel=\"describedby\"\n%s%s%s",
		status, len(body), docs, retryAfter, extraHeader, body)
}

// gate is a handler that runs until its test says so.
type gate struct{ entered, leave chan struct{} }

func newGate() *gate { return &gate{make(chan struct{}, 16), make(chan struct{})} }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.entered <- struct{}{}
	<-g.leave
	echo(w, r)
}

// runMeanwhile sends a request, and runs f while its handler is at work.
func (w *world) runMeanwhile(g *gate, f func()) reply {
	first := make(chan reply)
	req := w.request("POST", "/charges", "b")
	go func() { first <- w.do(req) }()
	<-g.entered
	f()
	close(g.leave)
	return <-first
}

// Every problem that the middleware can answer with, whole, over a listener.
func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code  string
		setup setup
		send  func(w *world) reply
		want  string
	}{
		{"missing-key", setup{http: semelhttp.Options{RequireKey: true}},
			func(w *world) reply {
				return w.post("b", func(r *http.Request) { delete(r.Header, "Idempotency-Key") })
			},
			problem(400, "missing-key", "Idempotency key missing", "This operation needs a key: send a new UUID in the key header, and the same one again when you retry.", "fix-request", "", "", "")},
		{"invalid-key", setup{},
			func(w *world) reply { return w.post("b", header("Idempotency-Key", "a", "b")) },
			problem(400, "invalid-key", "Idempotency key unusable", "The key cannot be used: send the key in exactly one field line.", "fix-request", "", "", "")},
		{"no-principal", setup{},
			func(w *world) reply { return w.post("b", func(r *http.Request) { r.Header.Del("X-User") }) },
			problem(401, "no-principal", "Caller unknown", "A key belongs to a caller: authenticate, then send the request again.", "fix-request", "", "Www-Authenticate: Bearer\n", "")},
		{"replay-forbidden", setup{http: semelhttp.Options{ReplayAuthorize: func(*http.Request) error { return errors.New("canary") }}},
			func(w *world) reply { w.post("b"); return w.post("b") },
			problem(403, "replay-forbidden", "Replay refused", "The operation was executed before; this caller may not see its answer now.", "never", "", "", "")},
		{"payload-too-large", setup{http: semelhttp.Options{MaxRequestBody: 3}},
			func(w *world) reply { return w.post("four") },
			problem(413, "payload-too-large", "Request body too large", "The body is larger than this service takes with a key. Nothing was executed and the key is unused.", "fix-request", "", "", "")},
		{"key-reused", setup{},
			func(w *world) reply { w.post("b"); return w.post("canary") },
			problem(422, "key-reused", "Idempotency key reused", "The key was used before with another request. Use a new key for a new operation; send the same request to retry the old one.", "fix-request", "", "", "")},
		{"store-unavailable", setup{},
			func(w *world) reply {
				w.store.bend(func(s *faultStore) { s.claim = semel.ErrStoreUnavailable })
				return w.post("b")
			},
			problem(503, "store-unavailable", "Store unavailable", "The service cannot guard the operation now. Nothing was executed.", "same-key", "1", "", "")},
		{"overloaded, store full", setup{},
			func(w *world) reply {
				w.store.bend(func(s *faultStore) { s.claim = semel.ErrStoreFull })
				return w.post("b")
			},
			problem(503, "overloaded", "Overloaded", "The service cannot take the request now. Nothing was executed.", "same-key", "1", "", "")},
		{"result-unavailable, tombstone", setup{http: semelhttp.Options{MaxResponseBody: 3}},
			func(w *world) reply { w.post("four"); return w.post("four") },
			problem(409, "result-unavailable", "Answer not available", "The operation was executed; its answer was not kept or cannot be read. It is not executed again under this key.", "never", "", "", `,"original_status":201`)},
		{"result-unavailable, newer record", setup{},
			func(w *world) reply {
				w.store.bend(func(s *faultStore) { s.claim = &semel.RecordFormatError{Format: 99} })
				return w.post("b")
			},
			problem(409, "result-unavailable", "Answer not available", "The operation was executed; its answer was not kept or cannot be read. It is not executed again under this key.", "never", "", "", "")},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &tt.setup, echo)
			if got := whole(tt.send(w)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestProblemInProgress(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := newWorld(t, nil, g.ServeHTTP)
	first := w.runMeanwhile(g, func() {
		want := problem(409, "in-progress", "Operation in progress", "The first request with this key is still being executed.", "same-key", "5", "", "")
		if got := whole(w.post("b")); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		// Mismatch beats running.
		w.post("other").isProblem(t, 422, "key-reused")
	})
	first.is(t, 201, "b")
	w.ran(1)
}

func TestProblemOutcomeUnknown(t *testing.T) {
	t.Parallel()
	held := setup{http: semelhttp.Options{Policy: semel.AtMostOnce}}
	w := newWorld(t, &held, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	w.breaks("b")
	want := problem(409, "outcome-unknown", "Outcome unknown", "The operation was started and its outcome is not known. It is not executed again until somebody has found out.", "never", "", "", "")
	if got := whole(w.post("b")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w.ran(1)
}

func TestProblemOverloadedByWaiters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	w.store.bend(func(s *faultStore) {
		s.claim = &semel.InProgressError{RetryAfter: time.Second, Err: semel.ErrWaitersFull}
	})
	want := problem(503, "overloaded", "Overloaded", "The service cannot take the request now. Nothing was executed.", "same-key", "1", "", "")
	if got := whole(w.post("b")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The problems that others send, and what WriteProblem does with what an outer
// layer or a failed handler has put into the header.
func TestWriteProblem(t *testing.T) {
	t.Parallel()
	statuses := map[semelhttp.Code]int{
		semelhttp.CodeDuplicateContent: 409, semelhttp.CodeErased: 410, semelhttp.CodeUpstreamUnreachable: 502,
		semelhttp.CodeUpstreamNoAnswer: 504, semelhttp.CodeIncompleteBody: 400, "no-such-code": 500,
	}
	for code, status := range statuses {
		p := semelhttp.NewProblem(code)
		if p.Status != status || p.Title == "" || p.Detail == "" || p.Retry == "" || (p.RetryAfter > 0) != (p.Retry == semelhttp.RetrySameKey) {
			t.Errorf("%s: %+v", code, p)
		}
	}
	rec := httptest.NewRecorder()
	for _, name := range []string{"Content-Encoding", "ETag", "Last-Modified", "Retry-After", "Content-Length", "X-Outer"} {
		rec.Header().Set(name, "7")
	}
	p := semelhttp.NewProblem(semelhttp.CodeErased)
	p.RetryAfter, p.Base = 1500*time.Millisecond, "https://example.com/p"
	semelhttp.WriteProblem(rec, p)
	h := rec.Result().Header
	if h.Get("X-Outer") != "7" || h.Get("Content-Encoding")+h.Get("ETag")+h.Get("Last-Modified") != "" || h.Get("Retry-After") != "2" {
		t.Errorf("header: %v", h)
	}
	if got := h.Get("Link"); got != `<https://example.com/p#erased>; rel="describedby"` {
		t.Errorf("Link: %s", got)
	}
	if got := h.Get("Content-Length"); got != fmt.Sprint(rec.Body.Len()) {
		t.Errorf("Content-Length %s for %d bytes", got, rec.Body.Len())
	}
}
