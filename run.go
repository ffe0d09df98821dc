package semel

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Run is a claim that is held. Its lease is renewed until [Run.Finish], however
// long the work takes. A Run that is never finished blocks [Engine.Close]. All
// methods may be called concurrently.
type Run struct {
	e         *Engine
	label     string
	claim     *ClaimParams
	fence     Fence
	attempt   int
	recovery  *Recovery
	began     time.Time
	finishing time.Time // when Finish was called
	unsure    bool      // a claim with this run's token may still be on its way
	guarded   bool      // false only for a run that FailOpen let through
	ctx       runContext
	work      context.Context
	cancel    context.CancelCauseFunc
	expire    context.CancelFunc // frees a kept deadline; may be nil

	mu       sync.Mutex
	policy   Policy
	deadline time.Time // local end of the lease
	renewAt  time.Time
	renewing bool
	lost     bool // the handler was cancelled
	taken    bool // the store said that the record is somebody else's
	finished bool // Finish was called
	ended    bool // nothing is pending any more

	// Place on the wheel, guarded by its lock.
	slot       *runList
	prev, next *Run
	due        time.Time
}

// Recovery is what is known of a run in doubt.
type Recovery struct {
	Attempt    int       // how many runs there were
	StartedAt  time.Time // store clock; the last of them began no earlier
	Since      time.Time // store clock; when the doubt began
	Cause      Cause
	Checkpoint []byte // the last one, if any
}

// runContext is a context that knows its run.
type runContext struct {
	context.Context
	run *Run
}

type runKey struct{}

func (c *runContext) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return c.run
	}
	return c.Context.Value(key)
}

func (e *Engine) newRun(ctx context.Context, op Op, p *ClaimParams, rec Record) *Run {
	r := &Run{e: e, label: op.Label, claim: p, fence: rec.Fence, attempt: rec.Attempt, policy: rec.Policy}
	if rec.Cause != CauseNone {
		r.recovery = &Recovery{Attempt: rec.Attempt - 1, StartedAt: rec.StartedAt, Since: rec.Since, Cause: rec.Cause, Checkpoint: rec.Checkpoint}
	}
	if op.Detached {
		ctx = r.detach(ctx)
	}
	r.ctx = runContext{Context: ctx, run: r}
	r.work, r.cancel = context.WithCancelCause(&r.ctx)
	e.runs.Add(1)
	e.work.also()
	return r
}

// detach keeps the values and the deadline of a caller's context.
func (r *Run) detach(ctx context.Context) context.Context {
	deadline, limited := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if limited {
		ctx, r.expire = context.WithDeadline(ctx, deadline)
	}
	return ctx
}

// RunFrom returns the run under whose context the caller works.
func RunFrom(ctx context.Context) (*Run, bool) {
	r, ok := ctx.Value(runKey{}).(*Run)
	return r, ok
}

// FenceFrom returns the fence of the run under whose context the caller works.
// Hand it to the systems you write to, and let them refuse smaller ones.
func FenceFrom(ctx context.Context) (Fence, bool) {
	r, ok := RunFrom(ctx)
	if !ok || !r.guarded {
		return 0, false
	}
	return r.fence, true
}

// Context is what the work runs under: the context given to Begin, with the
// fence. It is cancelled with cause [ErrLeaseLost] when the local deadline passes
// under AtLeastOnce, and with one that also matches [ErrFenced] when the store
// says that the record is somebody else's; and when the run has ended.
func (r *Run) Context() context.Context { return r.work }

// Fence returns the run's fence, 0 for an unguarded run.
func (r *Run) Fence() Fence { return r.fence }

// ID returns the id of the run's record.
func (r *Run) ID() KeyID { return r.claim.Key }

// Attempt counts the runs of this record, from 1.
func (r *Run) Attempt() int { return r.attempt }

// Guarded is false for a run without a claim: see [Options.FailOpen].
func (r *Run) Guarded() bool { return r.guarded }

// Lost is why the run does not hold its lease any more: nil while it does, else
// [ErrLeaseLost], which matches [ErrFenced] only if the store said so. It goes by the clock,
// so that who wakes from a pause learns it at once, before Context is cancelled. Under
// AtMostOnce a lease that is over is not lost until the store says so.
func (r *Run) Lost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.taken:
		return errTakenOver
	case r.lost, r.guarded && r.policy == AtLeastOnce && !r.finished && !r.e.now().Before(r.deadline):
		return ErrLeaseLost
	}
	return nil
}

// Recovery tells of the doubt when the claim acquired a record in doubt
// ([Op.Recovering]); otherwise it is nil.
func (r *Run) Recovery() *Recovery { return r.recovery }

// Policy returns the guarantee level of the run as the record has it.
func (r *Run) Policy() Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policy
}

// Derive returns the key for a call to another service: see [Key.Derive].
func (r *Run) Derive(label string) string { return deriveUUID(r.claim.Key, label) }

// HoldOnSilence raises the policy to AtMostOnce in the store: from here on a crash
// leaves the record in doubt instead of running the work again. For work that
// is about to show its effect, such as an answer that is being streamed. Errors: ErrFenced,
// or a *StoreError, which leaves open whether the policy was raised.
func (r *Run) HoldOnSilence(ctx context.Context) error {
	if !r.guarded || r.Policy() == AtMostOnce {
		return nil
	}
	if err := r.renewCall(ctx, AtMostOnce, r.e.opts.ClaimTimeout); err != nil {
		return fmt.Errorf("semel: the policy was not raised: %w", err)
	}
	r.mu.Lock()
	r.policy = AtMostOnce
	r.mu.Unlock()
	return nil
}

// Checkpoint keeps a note for the next run of this record and for [RecoverFunc].
// Errors: ErrUnsupported if the store keeps none, ErrFenced, or a *StoreError.
func (r *Run) Checkpoint(ctx context.Context, data []byte) error {
	keeper, ok := r.e.store.(Checkpointer)
	if !ok || !r.guarded {
		return ErrUnsupported
	}
	ctx, cancel := context.WithTimeout(ctx, r.e.opts.ClaimTimeout)
	defer cancel()
	sent := r.e.now()
	_, err := keeper.Checkpoint(ctx, CheckpointParams{Key: r.claim.Key, Token: r.claim.Token, Data: data})
	return r.e.called("checkpoint", r.claim.Key, sent, err)
}

// end lets the run go: nothing is pending for it any more.
func (r *Run) end() {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return
	}
	r.ended = true
	r.mu.Unlock()
	r.e.wheel.remove(r)
	r.cancel(context.Canceled)
	if r.expire != nil {
		r.expire()
	}
	r.e.work.end()
}

func (r *Run) event(kind EventKind) Event {
	return Event{Kind: kind, Operation: r.label, Key: r.claim.Key, Fence: r.fence, Attempt: r.attempt}
}
