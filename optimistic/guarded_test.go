package optimistic_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/optimistic"
	"github.com/semel-go/semel/semelhttp"
)

// guarded is a document at a version behind Semel's middleware.
type guarded struct {
	http.Handler
	version int64
	runs    int
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	store, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	once, err := semelhttp.New(engine, semelhttp.HeaderPrincipal("Authorization"), &semelhttp.Options{Methods: []string{http.MethodPut}})
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{version: 1}
	g.Handler = once(optimistic.Required(http.HandlerFunc(g.put)))
	return g
}

func (g *guarded) put(w http.ResponseWriter, r *http.Request) {
	g.runs++
	pre, err := optimistic.PreconditionsOf(r.Header)
	if err == nil {
		err = pre.Check(r.Method, optimistic.ETagOf(g.version), true)
	}
	if optimistic.Answer(w, r, err) {
		return
	}
	g.version++
	w.Header().Set("ETag", optimistic.ETagOf(g.version).String())
	w.WriteHeader(http.StatusNoContent)
}

// send sends a PUT under a key.
func (g *guarded) send(key, match string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPut, "/doc", strings.NewReader("text"))
	r.Header.Set("Authorization", "alice")
	r.Header.Set("Idempotency-Key", key)
	if match != "" {
		r.Header.Set("If-Match", match)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

// HTTP.md, order of layers: a retry whose If-Match is out of date by its own work is
// replayed, and not answered with 412.
func TestARetryIsReplayedThoughItsVersionIsOld(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	for i := range 2 {
		w := g.send("k", `"1"`)
		if w.Code != http.StatusNoContent || w.Header().Get("ETag") != `"2"` || (w.Header().Get("Idempotent-Replayed") != "") != (i == 1) {
			t.Errorf("call %d: %d %v", i+1, w.Code, w.Header())
		}
	}
	if g.runs != 1 {
		t.Errorf("%d runs, want 1", g.runs)
	}
}

// What was refused for its precondition's form or absence may be put right under the
// same key; what was refused since the resource has changed is the answer of its key.
func TestKeysOfRefusedRequests(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]struct{ refused, again int }{
		"":      {http.StatusPreconditionRequired, http.StatusNoContent},
		"1":     {http.StatusBadRequest, http.StatusNoContent},
		`"0"`:   {http.StatusPreconditionFailed, http.StatusPreconditionFailed},
		`W/"1"`: {http.StatusPreconditionFailed, http.StatusPreconditionFailed},
	} {
		g := newGuarded(t)
		if w := g.send("k", first); w.Code != want.refused {
			t.Errorf("%q: %d; want %d", first, w.Code, want.refused)
		}
		if w := g.send("k", `"1"`); w.Code != want.again {
			t.Errorf("%q, put right: %d; want %d", first, w.Code, want.again)
		}
		if w := g.send("k2", `"1"`); want.again != http.StatusNoContent && w.Code != http.StatusNoContent {
			t.Errorf("%q, under a new key: %d", first, w.Code)
		}
	}
}
