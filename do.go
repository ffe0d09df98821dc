package semel

import (
	"context"
	"errors"
)

// Result is what [Do] returns.
type Result[T any] struct {
	Value    T
	Replayed bool // the work was not run by this call
	Attempt  int  // of the run that made the result
	Fence    Fence
}

// RecoverFunc finds out what became of a run in doubt: it asks the system where
// the effect would be, for instance by the key that [Run.Derive] gives on every
// attempt. One caller at a time runs it, under a claim. It ends with [Done],
// [DidNotHappen] or [StillUnknown]; a panic is StillUnknown.
type RecoverFunc[T any] func(ctx context.Context, doubt Recovery) Recovered[T]

// Recovered is what a RecoverFunc found out.
type Recovered[T any] struct {
	state State
	value T
	err   error
}

// Done says that the effect took place, with this result.
func Done[T any](value T) Recovered[T] { return Recovered[T]{state: StateDone, value: value} }

// DidNotHappen says that it did not; the work runs in this call.
func DidNotHappen[T any]() Recovered[T] { return Recovered[T]{state: StateReleased} }

// StillUnknown says that nothing could be found out, and why; the record stays in
// doubt.
func StillUnknown[T any](why error) Recovered[T] { return Recovered[T]{state: StateInDoubt, err: why} }

// Do runs fn once for op and returns its result; every later call for the same
// key gets that result without running fn. The result is saved before Do returns
// it, or keeps being saved in the background (see [Run.Finish]).
//
// What fn returns decides: nil, and its value is recorded. [Final], and the
// failure is recorded. [Retryable], and the record is released. [InDoubt], and it
// is in doubt. Any other error, a panic or runtime.Goexit: released under
// AtLeastOnce, in doubt under AtMostOnce. A value that cannot be encoded, or is
// over [Options.MaxResult], is returned to this caller and recorded as a
// tombstone.
//
// Errors: those of [Engine.Begin]; [*FinalError], recorded or replayed;
// [*InDoubtError]; [*ResultUnavailableError] when the result was not kept; or
// what fn returned. A caller who was fenced at the end gets the winner's result,
// or an [*InProgressError] that matches [ErrFenced].
//
// fn's context carries the fence ([FenceFrom]) and is cancelled when the lease is
// lost; it is derived from ctx, so a cancelled caller cancels the work.
func Do[T any](ctx context.Context, e *Engine, op Op, fn func(context.Context) (T, error)) (Result[T], error) {
	if e == nil || fn == nil {
		return Result[T]{}, errNothingToDo
	}
	run, rec, err := e.Begin(ctx, op)
	switch {
	case err != nil:
		return Result[T]{}, err
	case rec != nil:
		return Replay[T](e.recorder, rec)
	}
	return execute(e, run, fn)
}

var errNothingToDo = errors.New("semel: the engine or the function is nil; make an engine with semel.New and pass the work")

// DoRecover is [Do] for work whose doubts can be cleared up: the next call that
// meets the record in doubt runs rec, and then fn if it did not happen.
func DoRecover[T any](ctx context.Context, e *Engine, op Op, fn func(context.Context) (T, error), rec RecoverFunc[T]) (Result[T], error) {
	if fn == nil || rec == nil {
		return Result[T]{}, errNothingToDo
	}
	op.Recovering = true
	return Do(ctx, e, op, func(ctx context.Context) (T, error) {
		run, _ := RunFrom(ctx)
		if run.recovery == nil {
			return fn(ctx)
		}
		found := rec(ctx, *run.recovery)
		switch found.state {
		case StateDone:
			return found.value, nil
		case StateReleased:
			return fn(ctx)
		}
		return found.value, InDoubt(errors.Join(errStillUnknown, found.err))
	})
}

var errStillUnknown = errors.New("semel: recovery found nothing out")

// execute runs fn under the run and finishes it, however fn ends.
func execute[T any](e *Engine, run *Run, fn func(context.Context) (T, error)) (Result[T], error) {
	finished := false
	defer func() {
		if !finished { // panic or Goexit, which go on by themselves
			run.Finish(run.Failed())
		}
	}()
	value, err := fn(run.Context())
	v := e.verdict(run, value, err)
	winner, fenced := run.Finish(v)
	finished = true
	switch {
	case winner != nil:
		return Replay[T](e.recorder, winner)
	case fenced != nil:
		return Result[T]{}, &InProgressError{RetryAfter: retryAfter(0), Err: fenced}
	case v.State == StateInDoubt:
		err = &InDoubtError{Since: e.now(), Cause: v.Cause, Attempt: run.Attempt(), Err: err}
	}
	return Result[T]{Value: value, Attempt: run.Attempt(), Fence: run.Fence()}, err
}

// verdict is what the handler's return means.
func (e *Engine) verdict(run *Run, value any, err error) Verdict {
	j := e.recorder.Judge(value, err)
	if j.State == StateNone {
		return run.Failed()
	}
	if j.State == StateDone && j.Result.Kind == ResultTombstone {
		ev := run.event(EventTombstone)
		ev.Bytes, ev.Err = j.Bytes, j.Err
		e.observe(ev)
	}
	return Verdict{State: j.State, Result: j.Result}
}
