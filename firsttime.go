package semel

import (
	"context"
	"errors"
	"time"
)

// FirstTime marks key for ttl and reports whether this call was the first to do
// so: one round trip, no lease, no result. It is for work that may be lost: if the
// process dies after the mark, the work is not done and nobody will do it. Use [Do]
// for everything that must happen.
//
// A call whose reply was lost recognises its own mark, so at most one caller gets
// true. ttl is at least one second, or [Forever]; after it the key is new. Errors:
// a [*StoreError] (nothing may be assumed then), [ErrClosed], or the cause of ctx.
// A key that [Do] holds was seen before.
func FirstTime(ctx context.Context, e *Engine, key Key, ttl time.Duration) (bool, error) {
	if e == nil {
		return false, errNothingToDo
	}
	err := errors.Join(key.check(), refuse(ttl < minRetention, "ttl %v is below 1s; use 1s or more, or semel.Forever", ttl))
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if !e.work.begin() {
		return false, ErrClosed
	}
	defer e.work.end()
	p := e.recorder.claimOf(Op{Key: key, Input: NoInput, Policy: e.opts.Policy, Lease: minLease, Retention: ttl, Label: key.scope.Operation})
	p.Mark = true
	res, err := e.claim(ctx, p)
	if err != nil {
		return false, err
	}
	e.observeMark(p, &res.ClaimResult)
	e.purgeSometimes()
	return res.Outcome == ClaimAcquired || res.Outcome == ClaimDone && res.Mine, nil
}

func (e *Engine) observeMark(p *ClaimParams, res *ClaimResult) {
	kind := EventReplay
	if res.Outcome == ClaimAcquired {
		kind = EventClaim
	}
	e.observe(Event{Kind: kind, Operation: p.Operation, Key: p.Key, Fence: res.Record.Fence, Attempt: res.Record.Attempt})
}
