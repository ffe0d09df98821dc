package storetest

import (
	"time"

	"github.com/semel-go/semel"
)

func expiryCases() []Case {
	return []Case{
		{
			Name:  "expiry/set at the claim",
			Why:   "finishing must not touch the expiry while half of it remains: it is indexed, and moving it is the dearest part of a finish",
			check: expirySetAtClaim,
		},
		{
			Name:  "expiry/moved by a late finish",
			Why:   "a result that was long in the making would be forgotten soon after, and the next retry would run again: retention is a minimum",
			check: expiryMovedByFinish,
		},
		{
			Name:  "expiry/each claim sets its own",
			Why:   "a key that is run again and again would expire by its first claim",
			check: expirySetByEachClaim,
		},
		{
			Name:  "expiry/set anew by a decision",
			Why:   "a doubt is often settled after the retention: the answer must not be gone at once",
			check: expirySetByResolve,
		},
		{
			Name:  "expiry/a decision without retention is refused",
			Why:   "a decided record that is forgotten at once takes the doubt with it, and the next retry runs",
			check: decisionNeedsRetention,
		},
		{
			Name:  "expiry/forever",
			Why:   "an expiry that overflows lies in the past, and a vote can be cast twice",
			check: expiryForever,
		},
		{
			Name:  "expiry/a fresh record has nothing of the old one",
			Why:   "result, checkpoint and labels of an expired record belong to somebody else's operation",
			check: freshIsEmpty,
		},
		{
			Name:  "lease/independent of retention",
			Why:   "one TTL for lease and result: a crash wedged the key for 24 h",
			check: leaseApartFromRetention,
		},
	}
}

func expirySetAtClaim(t *T) {
	key := t.key()
	owner := t.begin(key, semel.AtLeastOnce)
	t.advance(retention / 3)
	t.finish(doneOf(key, owner, "done"))
	if r := t.read(key); !near(r.ExpiresIn, retention*2/3) {
		t.errorf("finished after a third of the retention, the record expires in %v; want %v as set at the claim", r.ExpiresIn, retention*2/3)
	}
	t.advance(retention / 2)
	t.wantOutcome("before expiry", key, semel.ClaimDone)
	t.advance(retention / 4)
	t.wantOutcome("after expiry", key, semel.ClaimAcquired)
}

func expiryMovedByFinish(t *T) {
	for _, p := range []semel.FinishParams{{State: semel.StateDone}, {State: semel.StateReleased}} {
		key := t.key()
		p.Key, p.Token, p.Retention = key, t.begin(key, semel.AtLeastOnce), retention
		t.advance(retention * 2 / 3)
		t.finish(p)
		if r := t.read(key); !near(r.ExpiresIn, retention) {
			t.errorf("finished as %v after two thirds of the retention, the record expires in %v; want %v", p.State, r.ExpiresIn, retention)
		}
		before := t.read(key).ExpiresIn
		t.advance(retention * 2 / 3)
		t.finish(p)
		if r := t.read(key); !near(r.ExpiresIn, before-retention*2/3) {
			t.errorf("finished as %v again, the record expires in %v; a repeated finish changes nothing", p.State, r.ExpiresIn)
		}
	}
}

func expirySetByEachClaim(t *T) {
	key := t.key()
	for range 3 {
		p := claimOf(key, semel.NewToken())
		if r := t.acquire(p); !near(r.ExpiresIn, retention) {
			t.errorf("claimed again, the record expires in %v; want %v", r.ExpiresIn, retention)
		}
		t.finish(releaseOf(key, p.Token))
		t.advance(retention / 3)
	}
	if r := t.read(key); r.Attempt != 3 {
		t.errorf("attempt %d after three claims; the record must have lived through them", r.Attempt)
	}
}

func expirySetByResolve(t *T) {
	for _, how := range []semel.Resolution{semel.ResolveDone, semel.ResolveDidNotHappen} {
		key := t.key()
		doubtByHandler(t, key)
		t.advance(5 * retention)
		t.resolve(key, how)
		if r := t.read(key); !near(r.ExpiresIn, retention) {
			t.errorf("resolved as %v, the record is %s; want it to expire in %v", how, brief(r), retention)
		}
		t.advance(2 * retention)
		t.wantState("after the retention of a decision", key, semel.StateNone)
	}
}

func decisionNeedsRetention(t *T) {
	for _, how := range []semel.Resolution{semel.ResolveDone, semel.ResolveDidNotHappen} {
		for _, retention := range []time.Duration{-time.Hour, 0, time.Second - 1} {
			key := t.key()
			doubtByHandler(t, key)
			before := t.read(key)
			p := semel.ResolveParams{Key: key, Token: semel.NewToken(), Fence: before.Fence, Resolution: how, Retention: retention}
			if res, err := t.store.Resolve(t.ctx, p); err == nil {
				t.errorf("Resolve as %v with retention %v: resolved %v; want an error", how, retention, res.Resolved)
			}
			t.wantUnchanged("after a decision without retention", before, t.read(key))
		}
	}
}

func expiryForever(t *T) {
	key := t.key()
	p := claimOf(key, semel.NewToken())
	p.Retention = semel.Forever
	t.acquire(p)
	done := doneOf(key, p.Token, "vote")
	done.Retention = semel.Forever
	t.finish(done)
	const years = 365 * 24 * time.Hour
	t.advance(20 * years)
	if r := t.wantState("after 20 years of Forever", key, semel.StateDone); r.ExpiresIn != semel.Forever {
		t.errorf("a record kept Forever expires in %v", r.ExpiresIn)
	}
	t.wantOutcome("after 20 years of Forever", key, semel.ClaimDone)

	late := t.key()
	owner := t.begin(late, semel.AtLeastOnce)
	done = doneOf(late, owner, "vote")
	done.Retention = semel.Forever
	t.finish(done)
	if r := t.read(late); r.ExpiresIn != semel.Forever {
		t.errorf("finished with Forever after a claim with %v, the record expires in %v", retention, r.ExpiresIn)
	}
}

func freshIsEmpty(t *T) {
	key := t.key()
	p := claimOf(key, semel.NewToken())
	t.acquire(p)
	if c, ok := t.subject.Store.(semel.Checkpointer); ok {
		_, err := c.Checkpoint(t.ctx, semel.CheckpointParams{Key: key, Token: p.Token, Data: []byte("half")})
		t.noError("Checkpoint", err)
	}
	t.advance(2 * retention)
	q := claimOf(key, semel.NewToken())
	q.Fingerprint, q.ScopeID, q.Operation, q.KeyText, q.Policy = fingerprint(9), semel.ScopeID{9}, "refund", "", semel.AtMostOnce
	t.acquire(q)
	r := t.read(key)
	if r.Attempt != 1 || len(r.Checkpoint) != 0 || len(r.Result.Data) != 0 {
		t.errorf("the fresh record is %s with checkpoint %q; want attempt 1 and nothing else", brief(r), r.Checkpoint)
	}
	if r.Fingerprint != q.Fingerprint || r.ScopeID != q.ScopeID || r.Operation != q.Operation || r.KeyText != q.KeyText || r.Policy != q.Policy {
		t.errorf("the fresh record carries the labels of the expired one: %+v", r)
	}
}

func leaseApartFromRetention(t *T) {
	key := t.key()
	p := claimOf(key, semel.NewToken())
	p.Retention = 24 * time.Hour
	t.acquire(p)
	t.advance(2 * lease)
	t.wantOutcome("after a crash, long before the retention", key, semel.ClaimAcquired)
}
