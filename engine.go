package semel

import "context"

// Engine runs operations once per key over a [Store].
type Engine struct {
	store Store
	opts  Options
}

// New returns an engine on store.
func New(store Store, opts *Options) (*Engine, error) { panic("draft") }

// Begin claims the record of op. Exactly one of the three is returned: a run
// that the caller owns and must Finish; the done record of an earlier run, to
// be replayed; or an error: *InProgressError, *MismatchError, *InDoubtError,
// *RecordFormatError, or one that wraps ErrStoreUnavailable (with ErrNoReply or ErrStoreFull where so).
// Replaying is [Engine.Do]'s work for values and semelhttp's for responses;
// Begin is what both are made of.
func (e *Engine) Begin(ctx context.Context, op Op) (*Run, *Record, error) { panic("draft") }

// Close waits until pending saves and renewals are through, or ctx ends, and
// returns an error that counts what is left.
func (e *Engine) Close(ctx context.Context) error { panic("draft") }

// Store returns the store, for operators' tools.
func (e *Engine) Store() Store { return e.store }

// Run is a claim that is held: leases are renewed until Finish.
type Run struct{}

// Context is what the work should run under. It is cancelled with cause
// ErrLeaseLost (AtLeastOnce only) when the lease is over, and carries the fence.
func (r *Run) Context() context.Context { panic("draft") }
func (r *Run) Fence() Fence             { panic("draft") }
func (r *Run) Attempt() int             { panic("draft") }
func (r *Run) Policy() Policy           { panic("draft") }

// Recovery tells of the doubt when op.Recovering acquired a record in doubt; else nil.
func (r *Run) Recovery() *Recovery { panic("draft") }

// Recovery is what is known of a run in doubt.
type Recovery struct{}

// HoldOnSilence raises the policy to AtMostOnce in the store: a crash from here on
// leaves the record in doubt instead of running the work again.
func (r *Run) HoldOnSilence(ctx context.Context) error { panic("draft") }

// Verdict is how a run ended.
type Verdict struct {
	State  State        // StateDone, StateReleased or StateInDoubt
	Result StoredResult // for StateDone; over Options.MaxResult it becomes a tombstone
	Cause  Cause        // for StateInDoubt
}

// Failed is the verdict on a run that ended without one (error, panic, exit) under the run's policy:
// released under AtLeastOnce, in doubt under AtMostOnce.
func (r *Run) Failed() Verdict { panic("draft") }

// Finish saves the verdict on a context of its own. nil: it is saved, or the
// store does not answer and it is saved in the background while renewals go on.
// An error wraps ErrFenced: the verdict does not count; if the record is done
// by somebody else, winner is that record. Only the first call counts.
func (r *Run) Finish(v Verdict) (winner *Record, err error) { panic("draft") }
