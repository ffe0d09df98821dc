package lock

import (
	"context"
	"errors"

	"github.com/semel-go/semel"
)

// Locker hands out locks by name: a [*Leased] to all processes on one store, a [*Local] to
// the callers of one process. It is implemented by this package only.
type Locker interface {
	// Acquire waits until the lock of this name is the caller's, and returns it. Release
	// gives it back. opts may be nil.
	//
	// ctx bounds the wait and no more: the lock outlives it, and [Held.Context] keeps its
	// values. Errors: [*NotAcquiredError], the cause of ctx, a [*semel.StoreError] (the lock
	// is not held), [semel.ErrClosed].
	Acquire(ctx context.Context, name string, opts *Options) (*Held, error)

	// acquire is Acquire; a lock that is tied ends its context with ctx.
	acquire(ctx context.Context, name string, opts *Options, tied bool) (*Held, error)
}

// Do runs fn while it holds the lock of this name, and gives the lock back however fn
// ends: return, panic or runtime.Goexit. It waits for the lock as [Options] say; opts may
// be nil.
//
// fn's context ends with ctx, and as soon as the lock is not safely held any more:
// before anybody else can get it, with a cause that matches [semel.ErrLeaseLost]. fn must
// heed it. What a paused process writes afterwards, only the fence stops: hand it to
// [Guard], or to whatever else fn writes to.
//
// Without an error the lock was held until fn had returned. Errors: those of
// [Locker.Acquire], and fn was not run; a [*LostError]; or what fn returned.
//
// Locks are not reentrant: a call for the same name inside fn waits for itself until its
// wait is over.
func Do(ctx context.Context, locker Locker, name string, opts *Options, fn func(ctx context.Context, fence semel.Fence) error) (err error) {
	if locker == nil || fn == nil {
		return errors.New("lock: the locker or the function is nil; make a locker with lock.New or lock.NewLocal and pass the work")
	}
	held, err := locker.acquire(ctx, name, opts, true)
	if err != nil {
		return err
	}
	defer func() { err = both(err, held.Release()) }()
	return fn(held.ctx, held.fence)
}

// both is one error for what fn returned and what its lock came to.
func both(fn, release error) error {
	lost, ok := errors.AsType[*LostError](release)
	if !ok || fn == nil {
		return join(fn, release)
	}
	return &LostError{Fence: lost.Fence, Reason: lost.Reason, Err: fn}
}

// TryDo is [Do] without waiting: a [*NotAcquiredError] says that somebody else holds the
// lock now.
func TryDo(ctx context.Context, locker Locker, name string, opts *Options, fn func(ctx context.Context, fence semel.Fence) error) error {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Wait = NoWait
	return Do(ctx, locker, name, &o, fn)
}

// Held is a lock that is held. All methods may be called concurrently.
type Held struct {
	ctx     context.Context
	fence   semel.Fence
	lost    func() error
	release func() error // does its work once
}

// Fence returns the number of this acquisition. It is larger than that of every earlier
// one of the same name on the same locker. Hand it to the systems you write to, and let
// them refuse smaller ones.
func (h *Held) Fence() semel.Fence { return h.fence }

// Context is what the holder works under. It ends when the lock is not safely held any
// more, with a cause that matches [semel.ErrLeaseLost] and, if the store says that there is
// another owner, [semel.ErrFenced]; and with the release.
func (h *Held) Context() context.Context { return h.ctx }

// Lost is nil while the lock is held, else the cause with which Context has ended or is
// about to. It goes by the clock, so that a process that wakes from a pause learns it at
// once. It asks nobody: nil is no promise for the next write, which is what the fence is for.
// After a release it means nothing.
func (h *Held) Lost() error { return h.lost() }

// Release gives the lock back, and takes no context, since it has to do so for a caller
// who was cancelled too. A store that does not answer is told in the background; if it
// never does, the lease ends by itself. It never touches the lock of another owner. A
// [*LostError] says that the lock was not held until now. Further calls do nothing and
// return the same.
func (h *Held) Release() error { return h.release() }
