package semel

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// claimTries is how often a claim without an answer is repeated within the
// claim timeout, always with the same token.
const claimTries = 3

// Begin claims the record of op. Exactly one of the three is returned: a run
// that the caller owns and must [Run.Finish]; the done record of an earlier run,
// to be replayed; or an error: [*InProgressError], [*MismatchError],
// [*InDoubtError], a [*StoreError] (nothing was run), [ErrClosed], or the cause
// of ctx.
//
// [Do] and package semelhttp are made of it; use it directly only for work that
// fits neither. The identity of op is computed here, once: what the caller does
// to the input afterwards changes nothing.
func (e *Engine) Begin(ctx context.Context, op Op) (*Run, *Record, error) {
	op, err := op.resolve(&e.opts)
	if err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if !e.work.begin() {
		return nil, nil, ErrClosed
	}
	defer e.work.end()
	p := e.recorder.claimOf(op)
	r, rec, err := e.claimOnce(ctx, op, p)
	busy, ok := errors.AsType[*InProgressError](err)
	if ok && op.Wait > 0 {
		r, rec, err = e.wait(ctx, op, p, busy)
		busy, ok = errors.AsType[*InProgressError](err)
	}
	if ok {
		e.observe(Event{Kind: EventConflict, Operation: op.Label, Key: p.Key, Fence: busy.fence, Err: busy.Err})
	}
	return r, rec, err
}

// claimOnce claims without waiting for a running duplicate. A record that does
// not match may know the request by a former fingerprint.
func (e *Engine) claimOnce(ctx context.Context, op Op, p *ClaimParams) (*Run, *Record, error) {
	r, rec, err := e.claimAs(ctx, op, p)
	current := p.Fingerprint
	for _, former := range op.Former {
		if _, mismatch := errors.AsType[*MismatchError](err); !mismatch {
			break
		}
		p.Fingerprint = former.fingerprint(e.opts.Secret)
		r, rec, err = e.claimAs(ctx, op, p)
	}
	if _, running := errors.AsType[*InProgressError](err); running {
		p.Fingerprint = current // the next try begins with it again
	}
	if _, mismatch := errors.AsType[*MismatchError](err); mismatch {
		p.Fingerprint = current
		e.observe(Event{Kind: EventMismatch, Operation: op.Label, Key: p.Key})
	}
	return r, rec, err
}

// claimAs claims under the fingerprint that p has now.
func (e *Engine) claimAs(ctx context.Context, op Op, p *ClaimParams) (*Run, *Record, error) {
	if rec := e.cache.get(p.Key, e.now()); rec != nil {
		return e.fromCache(op, p, rec)
	}
	res, err := e.claim(ctx, p)
	if res.unsure && (err != nil || res.Outcome != ClaimAcquired) {
		lost := *p
		e.release(&lost)
		p.Token = NewToken() // a later claim of this caller is not to be released with it
	}
	if err != nil {
		return e.unclaimed(ctx, op, p, err)
	}
	switch res.Outcome {
	case ClaimAcquired:
		return e.acquired(ctx, op, p, &res), nil, nil
	case ClaimDone:
		e.observe(replayOf(op, &res.Record))
		rec := res.Record
		e.cache.put(&rec, res.sent)
		return nil, &rec, nil
	case ClaimInDoubt:
		e.observe(Event{Kind: EventInDoubt, Operation: op.Label, Key: p.Key, Fence: res.Record.Fence, Attempt: res.Record.Attempt})
	}
	return nil, nil, Refusal(&res.ClaimResult)
}

// fromCache answers with a done record that this process has seen.
func (e *Engine) fromCache(op Op, p *ClaimParams, rec *Record) (*Run, *Record, error) {
	if rec.Fingerprint != p.Fingerprint {
		return nil, nil, &MismatchError{}
	}
	ev := replayOf(op, rec)
	ev.Cached = true
	e.observe(ev)
	return nil, rec, nil
}

func replayOf(op Op, rec *Record) Event {
	return Event{Kind: EventReplay, Operation: op.Label, Key: rec.Key, Fence: rec.Fence, Attempt: rec.Attempt, Bytes: len(rec.Result.Data)}
}

// answer is what came of a claim.
type answer struct {
	ClaimResult
	sent time.Time // just before the try that counted
	// unsure: another try got no reply. It may still be on its way, and would take a
	// record that is free by then.
	unsure bool
}

// claim sends the claim until it has an answer with a lease that is worth having.
func (e *Engine) claim(ctx context.Context, p *ClaimParams) (a answer, err error) {
	ctx, cancel := e.bounded(ctx, e.opts.ClaimTimeout)
	defer cancel()
	backoff := 10 * time.Millisecond
	for try := 1; ; try++ {
		a.sent = e.now()
		a.ClaimResult, err = e.store.Claim(ctx, *p)
		err = e.called("claim", p.Key, a.sent, err)
		if err == nil && (a.Outcome != ClaimAcquired || p.Mark || e.worthHaving(p, a.sent, a.Record)) {
			return a, nil
		}
		if err == nil {
			err = &StoreError{Call: "claim", Err: ErrNoReply} // born expired: the answer was too late
		}
		a.unsure = a.unsure || errors.Is(err, ErrNoReply)
		if try == claimTries || ctx.Err() != nil || !again(err) {
			return a, err
		}
		e.pause(backoff)
		backoff *= 4
	}
}

// worthHaving is false for a lease that was over, or nearly, when its claim was
// answered: the claim may have stood behind another one in the store.
func (e *Engine) worthHaving(p *ClaimParams, sent time.Time, rec Record) bool {
	return rec.LeaseLeft > margin(p.Lease) && e.now().Before(localDeadline(sent, p.Lease))
}

// again says whether a failed call may be answered when it is sent once more.
func again(err error) bool { return !unreadable(err) && !errors.Is(err, ErrStoreFull) }

func unreadable(err error) bool {
	_, format := errors.AsType[*RecordFormatError](err)
	return format
}

// unclaimed ends a claim without an answer: the work is not run, unless the engine
// was told to fail open.
func (e *Engine) unclaimed(ctx context.Context, op Op, p *ClaimParams, err error) (*Run, *Record, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if !e.opts.FailOpen || !again(err) {
		return nil, nil, err
	}
	e.observe(Event{Kind: EventUnguarded, Operation: op.Label, Key: p.Key, Err: err})
	e.opts.Logger.LogAttrs(ctx, slog.LevelError, "semel: the store is unavailable; the operation runs unguarded (FailOpen)",
		slog.String("key", p.Key.Short()), slog.String("operation", op.Label), slog.Any("error", err))
	return e.newRun(ctx, op, p, Record{Policy: op.Policy, Attempt: 1}), nil, nil
}

// releasePace bounds the rate at which the releases of a process repeat: a store that is
// too slow for claims does not get more to do by each that it loses. Those that have not
// got through yet do not wait for those that have.
const releasePace = time.Millisecond

// release gives back, in the background, what claims without a reply may have
// taken or may yet take: until a lease after now they may be on their way.
func (e *Engine) release(p *ClaimParams) {
	e.work.spawn(func() {
		e.frees.Add(1)
		defer e.frees.Add(-1)
		e.owed.Add(1)
		share := p.Lease / 6
		among, longest := &e.owed, min(share, retryPause)
		through := sync.OnceFunc(func() {
			e.owed.Add(-1)
			among, longest = &e.frees, share
		})
		defer through()
		over := e.now().Add(p.Lease)
		f := FinishParams{Key: p.Key, Token: p.Token, State: StateReleased, Unrun: true, Retention: p.Retention}
		for wait := 20 * time.Millisecond; e.now().Before(over); wait = min(2*wait, longest) {
			err := e.finishCall(e.ctx, f, min(share, retryCall))
			if err == nil {
				e.hub.notify(p.Key)
			}
			if err == nil || errors.Is(err, ErrFenced) { // released, or not there yet
				through()
			}
			if !e.pauseUnlessClosing(max(wait, time.Duration(among.Load())*releasePace)) {
				return // a process that ends cannot wait for what may never arrive
			}
		}
	})
}

// pauseUnlessClosing waits for d and reports whether the engine stays open.
func (e *Engine) pauseUnlessClosing(d time.Duration) bool {
	t := e.opts.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-e.closing.Done():
		return false
	}
}

// acquired starts a run that holds its claim.
func (e *Engine) acquired(ctx context.Context, op Op, p *ClaimParams, a *answer) *Run {
	rec := a.Record
	r := e.newRun(ctx, op, p, rec)
	r.guarded, r.unsure = true, a.unsure
	r.began = a.sent
	r.deadline = localDeadline(a.sent, p.Lease)
	r.renewAt = a.sent.Add(p.Lease / 3)
	e.wheel.add(r, r.renewAt)
	e.observe(Event{Kind: EventClaim, Operation: op.Label, Key: p.Key, Fence: rec.Fence, Attempt: rec.Attempt})
	e.purgeSometimes()
	return r
}

// localDeadline is the last moment at which the owner believes in its lease: its
// own monotonic clock before the claim was sent, less a margin for the way.
func localDeadline(sent time.Time, lease time.Duration) time.Time {
	return sent.Add(lease - margin(lease))
}

func margin(lease time.Duration) time.Duration { return max(lease/10, 50*time.Millisecond) }

// retryAfter is min(lease left, 5 s), rounded up to whole seconds, at least one.
func retryAfter(left time.Duration) time.Duration {
	left = min(max(left, time.Second), 5*time.Second)
	return (left + time.Second - 1).Truncate(time.Second)
}
