package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/semel-go/semel"
)

func setupCases() []Case {
	return []Case{
		{
			Name:  "context/ended before the call",
			Why:   "a caller that has gone must get its answer at once, and an error that says whether anything happened",
			check: contextEnded,
		},
		{
			Name:  "guarantees/named",
			Why:   "no promise in words that the store does not keep: a store says what it is, and what a reader should know",
			check: guaranteesNamed,
		},
		{
			Name:  "reopen/records stay",
			Why:   "what survives our process must be there for the next one, leases and doubts included",
			needs: needsReopen, check: reopenKeeps,
		},
		{
			Name:  "skew/the caller's clock changes nothing",
			Why:   "a lease judged by the clock of a client that runs ahead ends early, and two owners run",
			needs: needsSkewed, check: skewChangesNothing,
		},
		{
			Name:  "format/a newer record is refused",
			Why:   "a record that cannot be read must not be run again, nor changed by a version that does not understand it",
			needs: needsFormat, check: newerFormat,
		},
	}
}

// promptly runs f and reports if it does not come back.
func (t *T) promptly(what string, f func()) {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		f()
	}()
	timeout := time.NewTimer(waitTime)
	defer timeout.Stop()
	select {
	case <-returned:
	case <-timeout.C:
		t.fatalf("%s did not return though its context had ended", what)
	}
}

func contextEnded(t *T) {
	ctx, cancel := context.WithCancel(t.ctx)
	cancel()
	key, other := t.key(), t.key()
	owner := t.begin(other, semel.AtLeastOnce)
	before := t.read(other)
	calls := map[string]func() error{
		"Claim": func() error { _, err := t.store.Claim(ctx, claimOf(key, semel.NewToken())); return err },
		"Renew": func() error {
			_, err := t.store.Renew(ctx, semel.RenewParams{Key: other, Token: owner, Lease: lease})
			return err
		},
		"Finish": func() error { _, err := t.store.Finish(ctx, doneOf(other, owner, "x")); return err },
		"Read":   func() error { _, err := t.store.Read(ctx, semel.ReadParams{Key: other}); return err },
		"Resolve": func() error {
			_, err := t.store.Resolve(ctx, semel.ResolveParams{Key: other, Token: owner, Fence: before.Fence, Resolution: semel.ResolveDelete})
			return err
		},
	}
	for name, call := range calls {
		t.promptly(name, func() { t.wantNotExecuted(name, call()) })
	}
	if r := t.read(key); r.State != semel.StateNone {
		t.errorf("a claim whose context had ended left the record %s", brief(r))
	}
	t.wantUnchanged("after calls whose context had ended", before, t.read(other))
}

func (t *T) wantNotExecuted(name string, err error) {
	switch {
	case err == nil:
		t.errorf("%s succeeded though its context had ended", name)
	case errors.Is(err, semel.ErrFenced):
		t.errorf("%s: %v; an ended context says nothing about the owner", name, err)
	case !errors.Is(err, semel.ErrStoreUnavailable) && !errors.Is(err, semel.ErrNoReply):
		t.errorf("%s: %v; want it to wrap ErrStoreUnavailable, or ErrNoReply if it may have been executed", name, err)
	}
}

func guaranteesNamed(t *T) {
	g, err := t.store.Guarantees(t.ctx, semel.GuaranteesParams{})
	if err != nil || g.Store == "" {
		t.errorf("Guarantees: store %q, %v; want a name", g.Store, err)
	}
	for _, a := range []semel.Answer{g.SingleRegister, g.SurvivesProcess, g.SurvivesEngineCrash, g.SurvivesPowerLoss, g.SurvivesFailover} {
		if a > semel.Yes {
			t.errorf("Guarantees: answer %d is none of yes, no and unknown", a)
		}
	}
	if g.SingleRegister != semel.Yes && len(g.Notes) == 0 {
		t.errorf("Guarantees: no single register, and no note that says why")
	}
}

func reopenKeeps(t *T) {
	done, busy, doubt := t.key(), t.key(), t.key()
	doneRecord(t, done)
	owner := t.begin(busy, semel.AtLeastOnce)
	doubtByHandler(t, doubt)
	other, err := t.subject.Reopen(t.ctx)
	if err != nil {
		t.fatalf("Subject.Reopen: %v", err)
	}
	for _, key := range []semel.KeyID{done, busy, doubt} {
		r, err := other.Read(t.ctx, semel.ReadParams{Key: key})
		t.noError("Read on another handle", err)
		t.wantUnchanged("on another handle", t.read(key), r)
	}
	if _, err := other.Finish(t.ctx, doneOf(busy, owner, "elsewhere")); err != nil {
		t.errorf("Finish on another handle with the owner's token: %v", err)
	}
	t.wantState("after a finish on another handle", busy, semel.StateDone)
}

func skewChangesNothing(t *T) {
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		skewed, err := t.subject.Skewed(t.ctx, skew)
		if err != nil {
			t.fatalf("Subject.Skewed: %v", err)
		}
		key := t.key()
		t.begin(key, semel.AtLeastOnce)
		res, err := skewed.Claim(t.ctx, claimOf(key, semel.NewToken()))
		if err != nil || res.Outcome != semel.ClaimRunning || !near(res.Record.LeaseLeft, lease) {
			t.errorf("a caller whose clock is off by %v: %v, %v of the lease left, %v; want running, %v", skew, res.Outcome, res.Record.LeaseLeft, err, lease)
		}
		p := claimOf(t.key(), semel.NewToken())
		if res, err = skewed.Claim(t.ctx, p); err != nil || res.Outcome != semel.ClaimAcquired {
			t.errorf("a claim by a caller whose clock is off by %v: %v, %v", skew, res.Outcome, err)
		}
		t.wantOutcome("beside a caller whose clock is off", p.Key, semel.ClaimRunning)
		t.advance(2 * lease)
		t.wantOutcome("after the lease of a caller whose clock is off", p.Key, semel.ClaimAcquired)
	}
}

func newerFormat(t *T) {
	for _, in := range []situation{running(semel.AtLeastOnce), leaseOver(semel.AtLeastOnce), doneRecord, doubtByHandler} {
		key := t.key()
		owner := in(t, key)
		before := t.read(key)
		t.setFormat(key, semel.RecordFormatMax+1)
		mismatch := claimOf(key, semel.NewToken())
		mismatch.Fingerprint = fingerprint(2)
		_, claimErr := t.store.Claim(t.ctx, claimOf(key, semel.NewToken()))
		_, mismatchErr := t.store.Claim(t.ctx, mismatch)
		_, renewErr := t.store.Renew(t.ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease})
		_, readErr := t.store.Read(t.ctx, semel.ReadParams{Key: key})
		_, resolveErr := t.store.Resolve(t.ctx, semel.ResolveParams{Key: key, Token: owner, Fence: before.Fence, Resolution: semel.ResolveDelete})
		t.wantFormatError("Claim", claimErr)
		t.wantFormatError("Claim with another fingerprint", mismatchErr)
		t.wantFormatError("Renew", renewErr)
		t.wantFormatError("Finish", t.finishErr(doneOf(key, owner, "x")))
		t.wantFormatError("Read", readErr)
		t.wantFormatError("Resolve", resolveErr)
		t.setFormat(key, semel.RecordFormat)
		t.wantUnchanged("after calls on a record of a newer format", before, t.read(key))
	}
}

func (t *T) setFormat(key semel.KeyID, format int) {
	if err := t.subject.SetFormat(t.ctx, key, format); err != nil {
		t.fatalf("Subject.SetFormat: %v", err)
	}
}

func (t *T) wantFormatError(what string, err error) {
	if f, ok := errors.AsType[*semel.RecordFormatError](err); !ok || f.Format != semel.RecordFormatMax+1 {
		t.errorf("%s on a record of a newer format: %v; want a RecordFormatError with its number", what, err)
	}
}
