package storetest

import (
	"bytes"
	"errors"
	"time"

	"github.com/semel-go/semel"
)

// The times of most cases. They are far apart, so that a store on a real clock
// never comes near a border while a case runs.
const (
	lease     = time.Minute
	retention = time.Hour
	tolerance = 15 * time.Second
)

func claimOf(key semel.KeyID, token semel.Token) semel.ClaimParams {
	return semel.ClaimParams{
		Key: key, Token: token, Fingerprint: fingerprint(1), Policy: semel.AtLeastOnce, Lease: lease, Retention: retention,
		ScopeID: semel.ScopeID{1, 2, 3}, Operation: "charge", KeyText: "order 4711",
	}
}

func fingerprint(n byte) semel.Fingerprint { return semel.Fingerprint{0: 1, 1: n} }

func doneOf(key semel.KeyID, token semel.Token, data string) semel.FinishParams {
	return semel.FinishParams{Key: key, Token: token, State: semel.StateDone, Result: value(data), Retention: retention}
}

func releaseOf(key semel.KeyID, token semel.Token) semel.FinishParams {
	return semel.FinishParams{Key: key, Token: token, State: semel.StateReleased, Retention: retention}
}

func unrunOf(key semel.KeyID, token semel.Token) semel.FinishParams {
	p := releaseOf(key, token)
	p.Unrun = true
	return p
}

func recoveryOf(key semel.KeyID) semel.ClaimParams {
	p := claimOf(key, semel.NewToken())
	p.Recovering = true
	return p
}

func doubtOf(key semel.KeyID, token semel.Token, cause semel.Cause) semel.FinishParams {
	return semel.FinishParams{Key: key, Token: token, State: semel.StateInDoubt, Cause: cause, Retention: retention}
}

func value(data string) semel.StoredResult {
	return semel.StoredResult{Kind: semel.ResultValue, Data: []byte(data)}
}

// claim claims and ends the case on an error.
func (t *T) claim(p semel.ClaimParams) semel.ClaimResult {
	res, err := t.store.Claim(t.ctx, p)
	if err != nil {
		t.fatalf("Claim: %v", err)
	}
	return res
}

// acquire claims and ends the case if the claim is not acquired.
func (t *T) acquire(p semel.ClaimParams) semel.Record {
	res := t.claim(p)
	if res.Outcome != semel.ClaimAcquired || !res.Mine {
		t.fatalf("Claim: %v (mine: %v); want acquired, mine; the record is %s", res.Outcome, res.Mine, brief(res.Record))
	}
	return res.Record
}

// begin acquires a key that is free, with a new token.
func (t *T) begin(key semel.KeyID, policy semel.Policy) semel.Token {
	p := claimOf(key, semel.NewToken())
	p.Policy = policy
	t.acquire(p)
	return p.Token
}

func (t *T) finish(p semel.FinishParams) {
	if _, err := t.store.Finish(t.ctx, p); err != nil {
		t.fatalf("Finish(%v): %v", p.State, err)
	}
}

func (t *T) read(key semel.KeyID) semel.Record {
	r, err := t.store.Read(t.ctx, semel.ReadParams{Key: key})
	if err != nil {
		t.fatalf("Read: %v", err)
	}
	return r
}

// resolve decides a record as it is seen now.
func (t *T) resolve(key semel.KeyID, how semel.Resolution) {
	p := semel.ResolveParams{
		Key: key, Token: semel.NewToken(), Fence: t.read(key).Fence, Resolution: how,
		Result: value("resolved"), Retention: retention,
	}
	res, err := t.store.Resolve(t.ctx, p)
	if err != nil || !res.Resolved {
		t.fatalf("Resolve(%v) with the fence just read: resolved %v, %v; the record is %s", how, res.Resolved, err, brief(res.Record))
	}
}

// wantOutcome claims with a new token and checks the answer.
func (t *T) wantOutcome(when string, key semel.KeyID, want semel.Outcome) semel.ClaimResult {
	res := t.claim(claimOf(key, semel.NewToken()))
	if res.Outcome != want {
		t.errorf("claim %s: %v; want %v; the record is %s", when, res.Outcome, want, brief(res.Record))
	}
	return res
}

func (t *T) wantState(when string, key semel.KeyID, want semel.State) semel.Record {
	r := t.read(key)
	if r.State != want {
		t.errorf("%s the record is %s; want %v", when, brief(r), want)
	}
	return r
}

// wantFenced checks that the caller is told ErrFenced and nothing else.
func (t *T) wantFenced(what string, err error) {
	switch {
	case err == nil:
		t.errorf("%s succeeded; want ErrFenced", what)
	case !errors.Is(err, semel.ErrFenced):
		t.errorf("%s: %v; want ErrFenced and no other error", what, err)
	case errors.Is(err, semel.ErrStoreUnavailable), errors.Is(err, semel.ErrNoReply):
		t.errorf("%s: %v; ErrFenced must not be mixed with an error of the store", what, err)
	}
}

// wantUnchanged checks that nothing but time went by between two reads.
func (t *T) wantUnchanged(when string, before, after semel.Record) {
	if d := difference(before, after); d != "" {
		t.errorf("%s the record changed: %s; it was %s and is %s", when, d, brief(before), brief(after))
	}
}

// difference names the first field in which two reads differ, time left aside.
func difference(a, b semel.Record) string {
	switch {
	case a.State != b.State:
		return "state"
	case a.Fence != b.Fence:
		return "fence"
	case !a.StartedAt.Equal(b.StartedAt):
		return "start"
	case !a.Since.Equal(b.Since):
		return "since"
	}
	return contentDifference(a, b)
}

// contentDifference is difference between records of two stores, whose fences and
// clocks differ.
func contentDifference(a, b semel.Record) string {
	switch {
	case a.State != b.State:
		return "state"
	case a.Policy != b.Policy:
		return "policy"
	case a.Attempt != b.Attempt:
		return "attempt"
	case a.Cause != b.Cause:
		return "cause"
	case a.Key != b.Key:
		return "key"
	case a.Fingerprint != b.Fingerprint:
		return "fingerprint"
	case a.Result.Kind != b.Result.Kind || !bytes.Equal(a.Result.Data, b.Result.Data):
		return "result"
	case !bytes.Equal(a.Checkpoint, b.Checkpoint):
		return "checkpoint"
	case a.ScopeID != b.ScopeID:
		return "scope id"
	case a.Operation != b.Operation:
		return "operation"
	case a.KeyText != b.KeyText:
		return "key text"
	}
	return ""
}

// near reports whether got is want, but for the time that went by since.
func near(got, want time.Duration) bool {
	if want == semel.Forever || got == semel.Forever {
		return got == want
	}
	return got <= want+time.Second && got >= want-tolerance
}
