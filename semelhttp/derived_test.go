package semelhttp_test

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// window is a service with derived keys whose store and engine have a clock that
// stands still.
func window(t *testing.T, o semelhttp.Options, handler http.HandlerFunc) (*world, *semeltest.Clock) {
	t.Helper()
	clock := semeltest.NewClock()
	if o.Derived == nil {
		o.Derived = &semelhttp.DerivedKey{Window: 10 * time.Second}
	}
	return newWorld(t, &setup{http: o, engine: semel.Options{Clock: clock}, now: clock.Now}, handler), clock
}

// The window begins with the first request, ends exactly, and is not prolonged by
// duplicates.
func TestDerivedWindow(t *testing.T) {
	t.Parallel()
	w, clock := window(t, semelhttp.Options{}, echo)
	send := func() reply { return w.post("b", unkeyed) }
	first := send()
	first.is(t, 201, "b")
	clock.Advance(6 * time.Second)
	replays(t, first, send())
	clock.Advance(4*time.Second - 1)
	replays(t, first, send())
	w.ran(1)
	clock.Advance(1)
	if second := send(); second.replayed() {
		t.Error("replayed after the window")
	}
	w.ran(2)
	clock.Advance(10*time.Second - 1)
	replays(t, first, send())
	w.ran(2)
}

// A handler that takes longer than half of the window gets a whole one after its
// answer.
func TestDerivedWindowOfSlowHandlers(t *testing.T) {
	t.Parallel()
	var clock *semeltest.Clock
	w, clock := window(t, semelhttp.Options{Lease: 9 * time.Second}, func(rw http.ResponseWriter, r *http.Request) {
		clock.Advance(6 * time.Second)
		echo(rw, r)
	})
	first := w.post("b", unkeyed)
	first.is(t, 201, "b")
	clock.Advance(10*time.Second - 1)
	replays(t, first, w.post("b", unkeyed))
	clock.Advance(1)
	if w.post("b", unkeyed).replayed() {
		t.Error("replayed after the window")
	}
	w.ran(2)
}

// What makes another derived key, and that a key that was sent counts before it.
func TestDerivedIdentity(t *testing.T) {
	t.Parallel()
	w, _ := window(t, semelhttp.Options{}, echo)
	first := w.post("b", unkeyed)
	w.post("c", unkeyed).is(t, 201, "c")
	w.do(w.request("POST", "/refunds", "b", unkeyed)).is(t, 201, "b")
	w.do(w.request("PATCH", "/charges", "b", unkeyed)).is(t, 201, "b")
	w.do(w.request("POST", "/charges?x=1", "b", unkeyed)).is(t, 201, "b")
	w.post("b", unkeyed, as(bob)).is(t, 201, "b")
	w.ran(6)
	again := w.post("b", unkeyed)
	replays(t, first, again)
	if _, echoed := again.Header["Idempotency-Key"]; echoed {
		t.Error("a derived key was echoed")
	}
	keyed := w.post("b") // an intent of its own, since it says so
	if keyed.is(t, 201, "b"); keyed.replayed() {
		t.Error("a request with a key was taken for one without")
	}
	replays(t, keyed, w.post("b"))
	w.post("b", header("Idempotency-Key", "")).isProblem(t, 400, "invalid-key") // no key, but no way around one
	w.post("b", unkeyed, as("")).isProblem(t, 401, "no-principal")
	w.ran(7)
}

func TestDerivedReject(t *testing.T) {
	t.Parallel()
	g := newGate()
	w, clock := window(t, semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: 10 * time.Second, Reject: true}}, g.ServeHTTP)
	req := w.request("POST", "/charges", "b", unkeyed)
	sent := make(chan reply)
	go func() { sent <- w.do(req) }()
	<-g.entered
	w.post("b", unkeyed).isProblem(t, 409, "in-progress") // it may yet fail, and then this one counts
	close(g.leave)
	first := <-sent
	first.is(t, 201, "b")
	want := problem(409, "duplicate-content", "Duplicate request", "The same request was sent a short time ago.", "never", "", "", "")
	if got := whole(w.post("b", unkeyed)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	keyed := w.post("b")
	replays(t, keyed, w.post("b")) // with a key duplicates are replayed all the same
	clock.Advance(10 * time.Second)
	w.post("b", unkeyed).is(t, 201, "b")
	w.ran(3)
}

// A request that failed is none to tell apart.
func TestDerivedRelease(t *testing.T) {
	t.Parallel()
	w, _ := window(t, semelhttp.Options{}, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(503) })
	w.post("b", unkeyed)
	w.post("b", unkeyed)
	w.ran(2)
}

// Derived keys follow the rule of the fingerprint.
func TestDerivedFromJSON(t *testing.T) {
	t.Parallel()
	w, _ := window(t, semelhttp.Options{JSON: &semelhttp.JSONFingerprint{Ignore: []string{"/sent_at"}}}, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "ok") })
	first := w.post(`{"a":1,"sent_at":1}`, unkeyed, typed("application/json"))
	replays(t, first, w.post(`{"sent_at":2, "a":1.0}`, unkeyed, typed("application/json")))
	w.ran(1)
}

func TestDerivedSettings(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, &semel.Options{Lease: 4 * time.Second})
	tests := []struct {
		o    semelhttp.Options
		want string // "": accepted
	}{
		{semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: 2 * time.Second}}, ""},
		{semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: time.Hour}}, ""},
		{semelhttp.Options{Derived: &semelhttp.DerivedKey{}}, "Derived.Window 0s is below 2s"},
		{semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: 1999 * time.Millisecond}}, "is below 2s"},
		{semelhttp.Options{Wait: 10 * time.Second, Derived: &semelhttp.DerivedKey{Window: 10 * time.Second}}, "Wait 10s is not below Retention 10s"},
		{semelhttp.Options{RequireKey: true, Derived: &semelhttp.DerivedKey{Window: 10 * time.Second}}, "RequireKey"},
		{semelhttp.Options{Retention: 3 * time.Second}, "Lease 4s is not below Retention 3s"}, // the engine's lease
	}
	for _, tt := range tests {
		_, err := semelhttp.New(e, semelhttp.Global, &tt.o)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// Golden: a derived key is the whole digest of what the fingerprint is made of, each
// part with its size, and stays so over an upgrade.
func TestDerivedKeyIsStable(t *testing.T) {
	t.Parallel()
	w, _ := window(t, semelhttp.Options{}, echo)
	w.do(w.request("POST", "/charges?x=1", "b", unkeyed, typed("Text/Plain; charset=utf-8")))
	content := sha256.Sum256([]byte("b"))
	h := sha256.New()
	for _, part := range []string{"semel/http/1", "POST", "/charges", "x=1", "text/plain", "", "raw:" + string(content[:])} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	id := semel.KeyOf(semel.Scope{Principal: alice}, "semel/derived/1", string(h.Sum(nil))).ID()
	rec, err := w.store.Read(t.Context(), semel.ReadParams{Key: id})
	if err != nil || rec.State != semel.StateDone {
		t.Errorf("the record is %v, %v", rec.State, err)
	}
}
