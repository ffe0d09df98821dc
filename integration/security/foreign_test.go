package security

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// Threat: an existence oracle by status or timing. A stranger's request under a key
// that somebody else uses takes the very path of one under a key that nobody uses:
// the same calls on the store, on a record of his own, with the same answers. No
// clock has to be read to know that it takes as long.
func TestForeignKeysLookUnused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/done", "/released", "/doubt"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newOracle(t)
			w.ask("alice", "taken", path)
			unused := w.ask("mallory", "unused", path)
			taken := w.ask("mallory", "taken", path)
			if len(unused.steps) != 2 || !slices.Equal(taken.steps, unused.steps) {
				t.Errorf("the calls on the store are %q for a taken key, %q for an unused one", taken.steps, unused.steps)
			}
			if taken.answer != unused.answer {
				t.Errorf("a taken key is answered\n%s\nan unused one\n%s", taken.answer, unused.answer)
			}
		})
	}
}

// The same while the other caller's request runs.
func TestForeignRunningKeysLookUnused(t *testing.T) {
	t.Parallel()
	w := newOracle(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.handler.ServeHTTP(httptest.NewRecorder(), request("alice", "taken", "/hold"))
	}()
	<-w.held
	unused := w.ask("mallory", "unused", "/done")
	taken := w.ask("mallory", "taken", "/done")
	close(w.free)
	<-ended
	if !slices.Equal(taken.steps, unused.steps) || taken.answer != unused.answer {
		t.Errorf("a taken key is met with %q, an unused one with %q", taken, unused)
	}
}

type oracle struct {
	t          *testing.T
	store      *semeltest.FaultStore
	handler    http.Handler
	held, free chan struct{}
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	mem, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &oracle{t: t, store: semeltest.NewFaultStore(mem), held: make(chan struct{}), free: make(chan struct{})}
	engine, err := semel.New(w.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close(context.Background()) })
	guard, err := semelhttp.New(engine, semelhttp.HeaderPrincipal("X-Tenant"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.handler = guard(http.HandlerFunc(w.serve))
	return w
}

func (w *oracle) serve(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/hold":
		close(w.held)
		<-w.free
	case "/released":
		rw.WriteHeader(http.StatusServiceUnavailable)
	case "/doubt":
		semelhttp.Decide(r.Context(), semel.InDoubt(errors.New("nobody knows")))
	}
	io.WriteString(rw, "answer")
}

type trace struct {
	steps  []string
	answer string
}

// ask sends a request and returns the calls on the store that it led to, and what
// came back.
func (w *oracle) ask(tenant, key, path string) (got trace) {
	before := len(w.store.Calls())
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, request(tenant, key, path))
	rec.Result().Header.Write(&headerText{&got.answer})
	got.answer = strings.ReplaceAll(got.answer, key, "KEY") + rec.Result().Status + rec.Body.String()
	for _, c := range w.store.Calls()[before:] {
		got.steps = append(got.steps, string(c.Method)+" "+outcome(c))
	}
	return got
}

func outcome(c semeltest.Call) string {
	switch r := c.Result.(type) {
	case semel.ClaimResult:
		return r.Outcome.String() + " " + r.Record.State.String()
	case semel.FinishResult:
		return c.Params.(semel.FinishParams).State.String()
	}
	return ""
}

func request(tenant, key, path string) *http.Request {
	r := httptest.NewRequest("POST", path, strings.NewReader("body of "+tenant))
	r.Header.Set("X-Tenant", tenant)
	r.Header.Set("Idempotency-Key", key)
	return r
}

// headerText appends to a text.
type headerText struct{ text *string }

func (h *headerText) Write(p []byte) (int, error) {
	*h.text += string(p)
	return len(p), nil
}
