package semel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Engine runs operations once per key over a [Store]. It holds what is the same
// for every store: the claim protocol, renewal, waiting, replay and saving. All
// methods may be called concurrently.
type Engine struct {
	store   Store
	changes ChangeWaiter // nil: poll
	purger  Purger       // nil: the store expires records by itself
	local   bool         // ProcessLocal
	opts    Options

	recorder  *Recorder
	cache     *cache
	wheel     wheel
	hub       hub
	lastPurge atomic.Int64 // Clock, Unix nanoseconds

	work    tally              // what Close waits for
	closing context.Context    // ends when Close begins
	shut    context.CancelFunc // ends closing
	ctx     context.Context    // of background work; ends when Close gives up
	stop    context.CancelFunc // ends ctx
	saves   atomic.Int64       // results pending in the background
	frees   atomic.Int64       // claims without a reply that are being released
	owed    atomic.Int64       // those of them whose release the store has not answered
	runs    atomic.Int64       // held by callers
}

// ProcessLocal is an optional capability: it marks a store that other processes
// cannot share. Its calls return at once, so the engine bounds none by a timeout.
type ProcessLocal interface{ ProcessLocal() }

// New returns an engine on store. All settings are checked, and all mistakes
// reported at once. It starts no goroutine and does not touch the store.
func New(store Store, opts *Options) (*Engine, error) {
	if store == nil {
		return nil, errors.New("semel: the store is nil; open one first, such as memstore.New or sqlstore.OpenSQLite")
	}
	e := &Engine{store: store, opts: opts.withDefaults()}
	_, e.local = store.(ProcessLocal)
	err := errors.Join(
		e.opts.validate(),
		refuse(e.local && e.opts.Replicas > 1, "Replicas is %d, but the store lives in one process: each replica would run the work; use a shared store", e.opts.Replicas),
	)
	if err != nil {
		return nil, err
	}
	e.recorder = newRecorder(&e.opts)
	e.changes, _ = store.(ChangeWaiter)
	e.purger, _ = store.(Purger)
	e.closing, e.shut = context.WithCancel(context.Background())
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.cache = newCache(e.opts.Cache, e.opts.CacheTTL)
	e.wheel.init(e)
	e.lastPurge.Store(e.now().UnixNano())
	return e, nil
}

// Store returns the engine's store, for operators' tools.
func (e *Engine) Store() Store { return e.store }

// Close refuses new operations, sends waiting duplicates away, and waits until
// runs have finished and pending saves are through, or ctx ends. It returns an
// error that counts what is left; no goroutine of the engine is. It may be called
// again.
func (e *Engine) Close(ctx context.Context) error {
	idle := e.work.close()
	e.shut()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = e.left(ctx)
	}
	e.stop()
	e.wheel.stop()
	e.work.join()
	return err
}

// left counts what Close could not wait for.
func (e *Engine) left(ctx context.Context) error {
	return fmt.Errorf("semel: closed with %d runs under way, %d results and %d releases not saved: %w",
		e.runs.Load(), e.saves.Load(), e.frees.Load(), context.Cause(ctx))
}

// bounded gives a store call its timeout.
func (e *Engine) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if e.local {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

func (e *Engine) now() time.Time { return e.opts.Clock.Now() }

// pause waits for d, or less when background work has to end.
func (e *Engine) pause(d time.Duration) {
	t := e.opts.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
	case <-e.ctx.Done():
	}
}

func (e *Engine) observe(ev Event) {
	if e.opts.Observer != nil {
		e.opts.Observer.Observe(ev)
	}
}

// called observes one store call and classifies its error: what no store
// documents counts as "no reply".
func (e *Engine) called(call string, key KeyID, sent time.Time, err error) error {
	if e.opts.Observer != nil {
		e.opts.Observer.Observe(Event{Kind: EventStoreCall, Call: call, Key: key, Duration: e.now().Sub(sent), Err: err})
	}
	if err == nil || errors.Is(err, ErrFenced) {
		return err
	}
	return &StoreError{Call: call, Err: classify(err)}
}

func classify(err error) error {
	for _, known := range []error{ErrStoreUnavailable, ErrNoReply, ErrStoreFull} {
		if errors.Is(err, known) {
			return err
		}
	}
	if _, ok := errors.AsType[*RecordFormatError](err); ok {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoReply, err)
}
