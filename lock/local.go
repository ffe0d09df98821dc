package lock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
)

// Local is a mutex for each name, within this process. Callers get it in the order in
// which they ask. A name takes memory only while somebody holds or awaits it. It has no
// lease, no goroutine, and needs no closing. All methods may be called concurrently.
type Local struct {
	queue  queue[string]
	fences atomic.Int64
}

var _ Locker = (*Local)(nil)

// NewLocal returns a locker for this process.
func NewLocal() *Local { return new(Local) }

// Lock waits until the mutex of this name is the caller's, or ctx ends: then it returns the
// cause of ctx. unlock gives it back; calling it again does nothing.
func (l *Local) Lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := l.enter(ctx, name, semel.Forever); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { l.queue.leave(name) }), nil
}

func (l *Local) enter(ctx context.Context, name string, wait time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return l.queue.enter(ctx, name, wait)
}

// Acquire is [Locker.Acquire]. The fence is a number of this process: it says nothing to
// systems that other processes write to as well.
func (l *Local) Acquire(ctx context.Context, name string, opts *Options) (*Held, error) {
	return l.acquire(ctx, name, opts, false)
}

func (l *Local) acquire(ctx context.Context, name string, opts *Options, tied bool) (*Held, error) {
	began, wait := time.Now(), opts.withDefaults(semel.Forever, 0).Wait
	if err := l.enter(ctx, name, wait); err != nil {
		return nil, refusal(err, wait, began)
	}
	fence := semel.Fence(l.fences.Add(1))
	if !tied {
		ctx = context.WithoutCancel(ctx)
	}
	work, cancel := context.WithCancel(ctx)
	return &Held{ctx: work, fence: fence, lost: func() error { return nil }, release: sync.OnceValue(func() error {
		cancel()
		l.queue.leave(name)
		return nil
	})}, nil
}
