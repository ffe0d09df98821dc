package semel

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"
)

// Verdict is how a run ended.
type Verdict struct {
	State  State        // StateDone, StateReleased or StateInDoubt
	Result StoredResult // for StateDone
	Cause  Cause        // for StateInDoubt; default CauseHandler
}

// Failed is the verdict on a run that ended without one of its own (an error, a
// panic, an exit) under the run's policy: released under AtLeastOnce, in doubt
// under AtMostOnce.
func (r *Run) Failed() Verdict {
	if r.Policy() == AtMostOnce {
		return Verdict{State: StateInDoubt, Cause: CauseError}
	}
	return Verdict{State: StateReleased}
}

// Finish saves the verdict, on a context of its own. Without an error it is
// saved, or the store did not answer and it is being saved in the background
// while renewals go on. An error matches [ErrFenced]: the verdict does not count;
// winner is then the record of who finished it, if it is done. Only the first
// call counts; later ones do nothing.
func (r *Run) Finish(v Verdict) (winner *Record, err error) {
	if !r.close() {
		return nil, nil
	}
	later := false
	defer func() {
		r.e.runs.Add(-1)
		if !later {
			r.end() // also when an observer panics
		}
	}()
	if !r.guarded {
		return nil, nil
	}
	f := r.finishParams(v)
	err = r.finishTwice(&f)
	switch {
	case err == nil:
		r.saved(f, EventFinish)
		return nil, nil
	case errors.Is(err, ErrFenced):
		r.fencedOff(f)
		return r.winner(), err
	}
	later = true
	r.saveLater(f, err)
	return nil, nil
}

// close reports whether this is the first Finish.
func (r *Run) close() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.finished
	if first {
		r.finished, r.finishing = true, r.e.now()
	}
	return first
}

func (r *Run) finishParams(v Verdict) FinishParams {
	f := FinishParams{Key: r.claim.Key, Token: r.claim.Token, State: v.State, Result: v.Result, Cause: v.Cause, Retention: r.claim.Retention}
	if f.State == StateInDoubt && f.Cause == CauseNone {
		f.Cause = CauseHandler
	}
	return f
}

// finishTwice is what a caller waits for: one call, and another one if the first
// failed at once.
func (r *Run) finishTwice(f *FinishParams) error {
	ctx, cancel := r.e.bounded(context.Background(), r.e.opts.FinishTimeout)
	defer cancel()
	err := r.e.finishCall(ctx, *f, r.e.opts.FinishTimeout)
	if err == nil || errors.Is(err, ErrFenced) || ctx.Err() != nil {
		return err
	}
	r.shrink(f, err)
	return r.e.finishCall(ctx, *f, r.e.opts.FinishTimeout)
}

// shrink makes a tombstone of a result that the store has no room for; one without
// a remark fits where a result does not.
func (r *Run) shrink(f *FinishParams, err error) {
	if errors.Is(err, ErrStoreFull) && f.State == StateDone && len(f.Result.Data) > 0 {
		f.Result = StoredResult{}
		r.e.observe(r.event(EventTombstone))
	}
}

func (e *Engine) finishCall(ctx context.Context, f FinishParams, timeout time.Duration) error {
	ctx, cancel := e.bounded(ctx, timeout)
	defer cancel()
	sent := e.now()
	_, err := e.store.Finish(ctx, f)
	return e.called("finish", f.Key, sent, err)
}

// saved ends a run whose verdict is in the store.
func (r *Run) saved(f FinishParams, kind EventKind) {
	r.end()
	r.remember(f)
	if r.unsure && f.State == StateReleased {
		r.e.release(r.claim)
	}
	r.e.hub.notify(f.Key)
	ev := r.event(kind)
	ev.State, ev.Bytes, ev.Duration, ev.Count = f.State, len(f.Result.Data), r.e.now().Sub(r.began), int(r.e.saves.Load())
	r.e.observe(ev)
	if f.State == StateInDoubt {
		r.e.observe(r.event(EventInDoubt))
		r.log(slog.LevelWarn, "semel: the outcome is in doubt; resolve it before it can run again", slog.String("cause", f.Cause.String()))
	}
}

// remember puts a result that was saved into the local cache. At least half of
// the retention remains after a finish; which of several repeated ones it was that
// counted is not known, so the first is assumed.
func (r *Run) remember(f FinishParams) {
	if f.State != StateDone || r.e.cache.max <= 0 {
		return
	}
	r.e.cache.put(&Record{
		Key: f.Key, State: StateDone, Policy: r.Policy(), Fence: r.fence, Attempt: r.attempt, ExpiresIn: f.Retention / 2,
		Fingerprint: r.claim.Fingerprint, Result: StoredResult{Kind: f.Result.Kind, Data: bytes.Clone(f.Result.Data)},
		ScopeID: r.claim.ScopeID, Operation: r.claim.Operation, KeyText: r.claim.KeyText,
	}, r.finishing)
}

func (r *Run) fencedOff(f FinishParams) {
	r.end()
	r.e.hub.notify(f.Key)
	ev := r.event(EventFenced)
	ev.State = f.State
	r.e.observe(ev)
	r.log(slog.LevelWarn, "semel: fenced: the run's outcome does not count", slog.String("outcome", f.State.String()))
}

// winner reads who finished the record, if it is done and for the same input.
func (r *Run) winner() *Record {
	ctx, cancel := r.e.bounded(context.Background(), r.e.opts.ClaimTimeout)
	defer cancel()
	sent := r.e.now()
	rec, err := r.e.store.Read(ctx, ReadParams{Key: r.claim.Key})
	if r.e.called("read", r.claim.Key, sent, err) != nil || rec.State != StateDone || rec.Fingerprint != r.claim.Fingerprint {
		return nil
	}
	return &rec
}

// saveLater saves in the background until the store answers. Renewals go on
// meanwhile, so nobody else runs while this process lives and either gets through.
func (r *Run) saveLater(f FinishParams, cause error) {
	r.shrink(&f, cause)
	n := r.e.saves.Add(1)
	ev := r.event(EventSaveRetry)
	ev.Count, ev.Err, ev.State = int(n), cause, f.State
	r.e.observe(ev)
	r.log(slog.LevelError, "semel: the outcome could not be saved; saving goes on in the background",
		slog.String("outcome", f.State.String()), slog.Any("error", cause))
	if !r.e.work.spawn(func() { r.save(f) }) {
		r.saveLost(f, ErrClosed)
	}
}

// Between two tries in the background, and for one of them, at most, however long the
// lease is: a store that is back is told soon.
const (
	retryPause = 5 * time.Second
	retryCall  = 10 * time.Second
)

func (r *Run) save(f FinishParams) {
	share := r.claim.Lease / 6
	over := r.e.now().Add(r.claim.Retention)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, share, retryPause) {
		r.e.pause(wait)
		err := r.e.finishCall(r.e.ctx, f, min(share, retryCall))
		switch {
		case err == nil:
			r.e.saves.Add(-1)
			r.saved(f, EventSaved)
			return
		case errors.Is(err, ErrFenced) && f.State == StateReleased: // a release has no outcome to lose
			r.e.saves.Add(-1)
			r.fencedOff(f)
			return
		case errors.Is(err, ErrFenced), r.e.ctx.Err() != nil, unreadable(err), r.e.now().After(over):
			r.saveLost(f, err)
			return
		}
		r.shrink(&f, err)
	}
}

func (r *Run) saveLost(f FinishParams, cause error) {
	if !errors.Is(cause, ErrFenced) && r.e.ctx.Err() != nil {
		cause = ErrClosed
	}
	r.end()
	n := r.e.saves.Add(-1)
	ev := r.event(EventSaveLost)
	ev.Count, ev.Err, ev.State = int(n), cause, f.State
	r.e.observe(ev)
	r.log(slog.LevelError, "semel: the outcome is lost; the work may run again",
		slog.String("outcome", f.State.String()), slog.Any("error", cause))
}

func (r *Run) log(level slog.Level, msg string, attrs ...slog.Attr) {
	attrs = append(attrs, slog.String("key", r.claim.Key.Short()), slog.String("operation", r.label))
	r.e.opts.Logger.LogAttrs(r.e.ctx, level, msg, attrs...)
}
