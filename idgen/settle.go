package idgen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/semel-go/semel"
)

// scopeOperation is the operation of all records of this package.
const scopeOperation = "idgen"

func (n *Node) key(parts ...string) semel.Key {
	scope := semel.Scope{Principal: semel.Global, Operation: scopeOperation}
	return semel.KeyOf(scope, append([]string{n.opts.Group}, parts...)...)
}

// first is what NewNode does: ctx ends it, but not what it began.
func (n *Node) first(ctx context.Context) (*tenure, error) {
	if err := n.agree(ctx); err != nil {
		return nil, err
	}
	return n.settle(ctx)
}

// agree makes the layout the group's, or finds that the group has another one: ids of
// two layouts could be equal.
func (n *Node) agree(ctx context.Context) error {
	op := semel.Op{Key: n.key("layout"), Input: semel.InputString(n.layout.String())}
	_, err := semel.Do(ctx, n.engine, op, func(context.Context) (string, error) { return n.layout.String(), nil })
	if _, mismatch := errors.AsType[*semel.MismatchError](err); mismatch {
		return &LayoutError{Group: n.opts.Group, Layout: n.layout}
	}
	if _, busy := errors.AsType[*semel.InProgressError](err); busy {
		return nil // somebody makes this very layout the group's
	}
	return err
}

// settle takes a free worker id. Those that were used past this host's clock are left
// alone.
func (n *Node) settle(ctx context.Context) (*tenure, error) {
	var late error
	for _, worker := range rand.Perm(n.layout.workers()) {
		t, err := n.try(ctx, worker)
		if t != nil {
			return t, nil
		}
		if _, clock := errors.AsType[*lateError](err); clock {
			late = err
		} else if err != nil {
			return nil, err
		}
	}
	if late != nil {
		return nil, errors.Unwrap(late)
	}
	return nil, &WorkersError{Group: n.opts.Group, Workers: n.layout.workers()}
}

// lateError is a ClockError of one worker id: another one may do.
type lateError struct{ *ClockError }

func (e *lateError) Unwrap() error { return e.ClockError }

// try claims a worker id. Without an error and a tenure it is taken.
func (n *Node) try(ctx context.Context, worker int) (*tenure, error) {
	before := n.opts.Now()
	run, err := n.claim(ctx, worker)
	if run == nil {
		return nil, err
	}
	t := newTenure(n.layout, worker, run)
	if err := n.enter(ctx, t, before); err != nil {
		run.Finish(semel.Verdict{State: semel.StateReleased})
		return nil, err
	}
	t.quiet = context.AfterFunc(run.Context(), t.end)
	return t, nil
}

// claim returns the run that holds the worker id, or nil if somebody else does, or an
// operator has retired it by resolving its record.
func (n *Node) claim(ctx context.Context, worker int) (*semel.Run, error) {
	bound, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // a deadline of ctx must not be the run's
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	op := semel.Op{Key: n.key("worker", strconv.Itoa(worker)), Input: semel.InputString(n.layout.String()), Detached: true}
	run, _, err := n.engine.Begin(bound, op)
	if _, held := errors.AsType[*semel.InProgressError](err); held {
		return nil, nil
	}
	if _, doubt := errors.AsType[*semel.InDoubtError](err); doubt {
		return nil, nil
	}
	return run, err
}

// enter reads up to when the worker id was used, and reserves what comes next.
func (n *Node) enter(ctx context.Context, t *tenure, before time.Time) error {
	claimed := n.opts.Now()
	rec, err := n.read(ctx, t)
	if err != nil {
		return err
	}
	if err := n.compareClocks(rec.StartedAt, before, claimed); err != nil {
		return err
	}
	horizon, err := parseHorizon(rec.Checkpoint)
	if err != nil {
		return err
	}
	now := n.tick()
	if now <= 0 {
		return &ClockError{Behind: time.Duration(1-now) * time.Millisecond, Of: "the layout's epoch"}
	}
	floor := now - 1
	if !horizon.IsZero() {
		floor = max(floor, n.layout.tick(horizon))
	}
	t.skip(floor)
	if behind := time.Duration(floor-now) * time.Millisecond; behind > n.opts.MaxWait {
		return &lateError{&ClockError{Behind: behind, Of: t.lastID()}}
	}
	return n.reserve(ctx, t)
}

func (t *tenure) lastID() string { return fmt.Sprintf("the last id of worker %d", t.worker) }

// read returns the record of a worker id that was just claimed.
func (n *Node) read(ctx context.Context, t *tenure) (semel.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	rec, err := n.store.Read(ctx, semel.ReadParams{Key: t.run.ID()})
	switch {
	case err != nil:
		return rec, &semel.StoreError{Call: "read", Err: err}
	case rec.Fence != t.run.Fence():
		return rec, &semel.StoreError{Call: "read", Err: semel.ErrFenced}
	}
	return rec, nil
}

// compareClocks compares the store's time of a claim with this host's before and after it.
func (n *Node) compareClocks(started, before, after time.Time) error {
	behind := max(started.Sub(after), min(0, started.Sub(before)))
	if behind.Abs() <= n.opts.MaxSkew || n.opts.MaxSkew < 0 {
		return nil
	}
	return &ClockError{Behind: behind, Of: "the store's"}
}

// reserve moves the horizon to two thirds of a lease after now, or after the last id if
// that is later: a third is left when the next reservation is due, and when the lease of a
// node that was killed is over, so is its horizon. What the store has not acknowledged
// is not used.
func (n *Node) reserve(ctx context.Context, t *tenure) error {
	until := min(max(n.tick(), t.tick())+n.opts.Lease.Milliseconds()*2/3, n.layout.lastTick())
	if until <= t.until.Load() {
		return nil // the clock was set back
	}
	if err := t.run.Checkpoint(ctx, horizonText(n.layout.moment(until))); err != nil {
		return err
	}
	t.until.Store(until)
	return nil
}
