package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// Leased hands out locks under a lease, over any [semel.Store]. Make one with [New]. All
// methods may be called concurrently.
//
// A lock is a record of the store, and lives as every record does: a claim acquires it,
// renewals keep it from a third of the lease on, a release ends it, and after a holder's
// death it is free when the lease is over. The store's clock counts.
type Leased struct {
	engine *semel.Engine
	config Config
	queue  queue[semel.KeyID]
}

var _ Locker = (*Leased)(nil)

// New returns a locker on store. All mistakes in config, which may be nil, are reported at
// once. It starts no goroutine and does not touch the store.
func New(store semel.Store, config *Config) (*Leased, error) {
	c := config.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	engine, err := semel.New(store, c.engine())
	if err != nil {
		return nil, err
	}
	return &Leased{engine: engine, config: c, queue: queue[semel.KeyID]{perKey: c.MaxWaitersPerName, total: c.MaxWaiters}}, nil
}

// Key returns the key of the record of a lock, for operators.
func (l *Leased) Key(name string) semel.Key { return semel.KeyOf(l.config.Scope, name) }

// Close refuses new acquisitions, sends those away who wait for other processes, and
// waits until all locks are released, or ctx ends. An error counts what is left; its
// leases end by themselves.
func (l *Leased) Close(ctx context.Context) error { return l.engine.Close(ctx) }

// Acquire is [Locker.Acquire].
//
// Callers of one process get a lock in the order in which they ask; only the first of
// them asks the store. Between processes the one wins whose claim reaches the store first
// after a release. Where the store tells of changes ([semel.ChangeWaiter]), all who wait
// learn of it at once; elsewhere they look every Config.Poll.
func (l *Leased) Acquire(ctx context.Context, name string, opts *Options) (*Held, error) {
	return l.acquire(ctx, name, opts, false)
}

func (l *Leased) acquire(ctx context.Context, name string, opts *Options, tied bool) (*Held, error) {
	o := opts.withDefaults(l.config.Wait, l.config.Lease)
	began, key := time.Now(), l.Key(name)
	if err := l.queue.enter(ctx, key.ID(), o.Wait); err != nil {
		return nil, refusal(err, o.Wait, began)
	}
	leave := sync.OnceFunc(func() { l.queue.leave(key.ID()) })
	held := false
	defer func() {
		if !held { // also when an observer panics
			leave()
		}
	}()
	run, err := l.claim(ctx, key, o, began)
	if err != nil {
		return nil, refusal(err, o.Wait, began)
	}
	held = true
	return l.hold(ctx, run, leave, tied), nil
}

// claim waits for the record, as long as o.Wait has not gone by since began.
func (l *Leased) claim(ctx context.Context, key semel.Key, o Options, began time.Time) (*semel.Run, error) {
	op := semel.Op{
		Key: key, Input: semel.NoInput, Lease: o.Lease, Retention: max(l.config.Retention, 2*o.Lease),
		Detached: true, // the lock ends with its release, whatever becomes of ctx
	}
	for {
		left := o.Wait - time.Since(began)
		op.Wait = max(min(left, op.Retention/2), NoWait) // a longer one takes several turns
		run, done, err := l.engine.Begin(undated{ctx}, op)
		if done != nil {
			return nil, errForeign
		}
		if left > op.Wait && waitable(err) {
			continue
		}
		return run, err
	}
}

var errForeign = errors.New("lock: the record is that of an operation which is done; give locks a Config.Scope of their own")

// waitable reports that somebody holds the record, and that waiting goes on.
func waitable(err error) bool {
	_, busy := errors.AsType[*semel.InProgressError](err)
	return busy && !errors.Is(err, semel.ErrWaitersFull)
}

// refusal is what a caller learns of a lock that it did not get.
func refusal(err error, wait time.Duration, began time.Time) error {
	_, busy := errors.AsType[*semel.InProgressError](err)
	switch {
	case errors.Is(err, semel.ErrWaitersFull):
		err = ErrTooManyWaiters
	case busy && wait <= 0:
		err = errTaken
	case busy:
		err = ErrTimeout
	case err != ErrTimeout && err != ErrTooManyWaiters && err != errTaken:
		return err
	}
	return &NotAcquiredError{Reason: err, Waited: time.Since(began)}
}

// undated is a context without its deadline: that bounds the wait, and not the lock.
type undated struct{ context.Context }

func (undated) Deadline() (time.Time, bool) { return time.Time{}, false }

// hold makes a lock of a run. The run's own context stays hidden: keys that an operation
// derives for calls to others must not come from the record of a lock, which is the same
// for all that is done under it.
func (l *Leased) hold(ctx context.Context, run *semel.Run, leave func(), tied bool) *Held {
	if !tied {
		ctx = context.WithoutCancel(ctx)
	}
	work, cancel := context.WithCancelCause(ctx)
	ended := context.AfterFunc(run.Context(), func() { // the lease is lost
		cancel(context.Cause(run.Context()))
		leave() // the next one here has the same chance as other processes
	})
	return &Held{ctx: work, fence: run.Fence(), lost: run.Lost, release: sync.OnceValue(func() error {
		defer leave()
		defer cancel(context.Canceled)
		ended()
		return l.release(run)
	})}
}

// release ends the run, and says whether it had the lock until now.
func (l *Leased) release(run *semel.Run) error {
	lost := run.Lost()
	if _, err := run.Finish(semel.Verdict{State: semel.StateReleased}); err != nil {
		lost = err
	}
	if lost != nil {
		return &LostError{Fence: run.Fence(), Reason: lost}
	}
	if run.Attempt() >= manyAttempts {
		l.recount(run)
	}
	return nil
}

// manyAttempts is when the count of a record that is never forgotten begins anew: stores
// keep it in 32 bits, and a busy lock gets there within weeks.
const manyAttempts = 1 << 24

// recount sets the attempts of a free lock to 0. If somebody was quicker, one of the next
// holders does it.
func (l *Leased) recount(run *semel.Run) {
	ctx, cancel := context.WithTimeout(context.Background(), l.config.engine().ClaimTimeout)
	defer cancel()
	_, _ = l.engine.Store().Resolve(ctx, semel.ResolveParams{
		Key: run.ID(), Token: semel.NewToken(), Fence: run.Fence(),
		Resolution: semel.ResolveDidNotHappen, Retention: l.config.Retention,
	})
}
