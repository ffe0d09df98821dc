package proxy_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// Field fault: nothing leads from a stuck record back to its request. The log names
// the whole record, its fence the failed round trip, and the record the key.
func TestDoubtLeadsBack(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) { drop(w) })
	store := "sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	g := start(t, up.URL, "--store="+store, "--store-key-text")
	g.post("order-17", "tea").want(t, 504, "upstream-no-answer")
	doubt, failure := g.logged("a record is in doubt"), g.logged("the upstream failed")
	if doubt.Fence == 0 || doubt.Fence != failure.Fence || doubt.Record != failure.Record || doubt.Operation != "POST" || failure.Operation != "POST" {
		t.Errorf("the lines do not belong together: %+v %+v", doubt, failure)
	}
	id, err := semel.ParseKeyID(doubt.Record)
	if err != nil {
		t.Fatal(err)
	}
	h, err := storeurl.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	rec, err := h.Store.Read(t.Context(), semel.ReadParams{Key: id})
	if err != nil || rec.State != semel.StateInDoubt || rec.KeyText != "order-17" {
		t.Errorf("the record of the log is %v with key %q: %v", rec.State, rec.KeyText, err)
	}
}

type logLine struct {
	Msg, Record, Operation string
	Fence                  int64
}

// logged is the first line of the log that begins with text.
func (g *gateway) logged(text string) logLine {
	g.t.Helper()
	for line := range strings.Lines(g.logs.String()) {
		var l logLine
		if json.Unmarshal([]byte(line), &l) == nil && strings.HasPrefix(l.Msg, text) {
			return l
		}
	}
	g.t.Fatalf("the log has no line %q:\n%s", text, g.logs.String())
	return logLine{}
}

// With --cache a replay needs no store: a record that an operator has just deleted
// is still replayed, for as long as the guide says.
func TestCacheReplaysWithoutTheStore(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201) })
	store := "sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	g := start(t, up.URL, "--store="+store, "--cache=1MiB")
	g.post("order-18", "tea").want(t, 201, "")
	h, err := storeurl.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	list, err := h.Store.(semel.Lister).List(t.Context(), semel.ListParams{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range list.Records {
		res, err := h.Store.Resolve(t.Context(), semel.ResolveParams{Key: rec.Key, Token: semel.NewToken(), Fence: rec.Fence, Resolution: semel.ResolveDelete})
		if err != nil || !res.Resolved {
			t.Fatal(res, err)
		}
	}
	g.post("order-18", "tea").want(t, 201, "")
	up.wantExecuted(t, 1)
}
