package upgrade

import (
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// situation is a record in the fixture, and what a later version must make of it an
// hour later.
type situation struct {
	name  string
	write func(w *writer)

	outcome semel.Outcome // of a claim by somebody else
	attempt int           // after it, if acquired
	owner   bool          // its owner may still say done
}

// situations are records in every state, by every way into it. Their names are
// their keys.
var situations = []situation{
	{"running", func(w *writer) { w.claim(2 * time.Hour); w.checkpoint() }, semel.ClaimRunning, 0, true},
	{"lapsed", func(w *writer) { w.claim(time.Minute); w.checkpoint() }, semel.ClaimAcquired, 2, true},
	{"lapsed in doubt", func(w *writer) { w.Policy = semel.AtMostOnce; w.claim(time.Minute) }, semel.ClaimInDoubt, 0, true},
	{"raised", func(w *writer) { w.claim(time.Minute); w.raise() }, semel.ClaimInDoubt, 0, true},
	{"released twice", func(w *writer) { w.claim(time.Minute); w.released(); w.claim(time.Minute); w.released() }, semel.ClaimAcquired, 3, false},
	{"done", func(w *writer) { w.claim(time.Minute); w.done(semel.ResultValue, `{"id":"ch_1"}`) }, semel.ClaimDone, 0, true},
	{"done, no bytes", func(w *writer) { w.claim(time.Minute); w.done(semel.ResultValue, "") }, semel.ClaimDone, 0, true},
	{"tombstone", func(w *writer) { w.claim(time.Minute); w.done(semel.ResultTombstone, "status=201") }, semel.ClaimDone, 0, true},
	{"mark", func(w *writer) { w.Mark = true; w.claim(time.Minute) }, semel.ClaimDone, 0, false},
	{"in doubt by handler", func(w *writer) { w.claim(time.Minute); w.checkpoint(); w.doubt(semel.CauseHandler) }, semel.ClaimInDoubt, 0, true},
	{"in doubt by error", func(w *writer) { w.claim(time.Minute); w.doubt(semel.CauseError) }, semel.ClaimInDoubt, 0, true},
	{"in doubt by attempts", func(w *writer) { w.claim(time.Minute); w.released(); w.spend() }, semel.ClaimInDoubt, 0, false},
	{"recovering", func(w *writer) { w.claim(time.Minute); w.doubt(semel.CauseError); w.recover() }, semel.ClaimRunning, 0, true},
	{"resolved as done", func(w *writer) { w.claim(time.Minute); w.doubt(semel.CauseError); w.resolve(semel.ResolveDone) }, semel.ClaimDone, 0, false},
	{"resolved as not happened", func(w *writer) {
		w.claim(time.Minute)
		w.doubt(semel.CauseError)
		w.resolve(semel.ResolveDidNotHappen)
	}, semel.ClaimAcquired, 1, false},
	{"deleted", func(w *writer) { w.claim(time.Minute); w.doubt(semel.CauseError); w.resolve(semel.ResolveDelete) }, semel.ClaimAcquired, 1, false},
	{"expired", func(w *writer) {
		w.Retention = 2 * time.Minute
		w.claim(time.Minute)
		w.done(semel.ResultValue, "old")
	}, semel.ClaimAcquired, 1, false},
	{"forever", func(w *writer) {
		w.Retention = semel.Forever
		w.claim(time.Minute)
		w.done(semel.ResultValue, "kept")
	}, semel.ClaimDone, 0, true},
	{"with its text", func(w *writer) { w.KeyText = "order-17 “ä”"; w.claim(time.Minute); w.done(semel.ResultValue, "x") }, semel.ClaimDone, 0, true},
}

// situationKey finds a record by what its caller knows, so that the derivation of
// keys is held as well.
func situationKey(name string) semel.KeyID {
	return semel.KeyOf(semel.Scope{Principal: "fixture", Operation: "situation"}, name).ID()
}

// writer brings one record into a situation. Each step fails the test if the store
// does not take it.
type writer struct {
	semel.ClaimParams
	t     *testing.T
	store semel.Store
}

func newWriter(t *testing.T, store semel.Store, name string) *writer {
	return &writer{t: t, store: store, ClaimParams: semel.ClaimParams{
		Key: situationKey(name), Token: tokenOf(name), Fingerprint: fingerprintOf(name), Policy: semel.AtLeastOnce,
		Retention: 24 * time.Hour, ScopeID: semel.ScopeIDOf(nil, "fixture"), Operation: "situation",
	}}
}

func (w *writer) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) claim(lease time.Duration) {
	w.t.Helper()
	w.Lease = lease
	res, err := w.store.Claim(w.t.Context(), w.ClaimParams)
	w.must(err)
	if res.Outcome != semel.ClaimAcquired {
		w.t.Fatalf("claim: %v", res.Outcome)
	}
}

func (w *writer) recover() { w.Recovering = true; w.claim(2 * time.Hour) }

// spend asks once too often.
func (w *writer) spend() {
	w.t.Helper()
	w.MaxAttempts = 1
	res, err := w.store.Claim(w.t.Context(), w.ClaimParams)
	w.must(err)
	if res.Outcome != semel.ClaimInDoubt {
		w.t.Fatalf("claim: %v", res.Outcome)
	}
}

func (w *writer) checkpoint() {
	w.t.Helper()
	_, err := w.store.(semel.Checkpointer).Checkpoint(w.t.Context(), semel.CheckpointParams{Key: w.Key, Token: w.Token, Data: []byte("step 2")})
	w.must(err)
}

func (w *writer) raise() {
	w.t.Helper()
	_, err := w.store.Renew(w.t.Context(), semel.RenewParams{Key: w.Key, Token: w.Token, Lease: w.Lease, Policy: semel.AtMostOnce})
	w.must(err)
}

func (w *writer) finish(p semel.FinishParams) error {
	p.Key, p.Token, p.Retention = w.Key, w.Token, w.Retention
	_, err := w.store.Finish(w.t.Context(), p)
	return err
}

func (w *writer) released() {
	w.t.Helper()
	w.must(w.finish(semel.FinishParams{State: semel.StateReleased}))
}

func (w *writer) doubt(c semel.Cause) {
	w.t.Helper()
	w.must(w.finish(semel.FinishParams{State: semel.StateInDoubt, Cause: c}))
}

func (w *writer) done(kind semel.ResultKind, data string) {
	w.t.Helper()
	w.must(w.finish(semel.FinishParams{State: semel.StateDone, Result: semel.StoredResult{Kind: kind, Data: []byte(data)}}))
}

// resolve is the operator's decision; its token is nobody's who ran.
func (w *writer) resolve(r semel.Resolution) {
	w.t.Helper()
	seen, err := w.store.Read(w.t.Context(), semel.ReadParams{Key: w.Key})
	w.must(err)
	res, err := w.store.Resolve(w.t.Context(), semel.ResolveParams{
		Key: w.Key, Token: tokenOf("operator"), Fence: seen.Fence, Resolution: r, Retention: w.Retention,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte("found at the bank")},
	})
	w.must(err)
	if !res.Resolved {
		w.t.Fatalf("not resolved: %+v", res.Record)
	}
}
