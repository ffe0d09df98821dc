package combiner

import (
	"context"
	"sync/atomic"
)

// Call is one operation in a batch.
type Call[T any] struct {
	// Op is what the caller passed to [Combiner.Do].
	Op T

	stage atomic.Int32
	err   error
	done  chan struct{} // nil for a call that its caller flushes
}

// The stages of a call. The caller and the flush race for the first step, so
// that a withdrawn call is never started.
const (
	stageWaiting int32 = iota
	stageStarted
	stageWithdrawn // before it was started
	stageLeft      // after it was started
)

// Start tells that the call is about to take effect. It answers false when its
// caller is gone: the call must then be skipped.
func (c *Call[T]) Start() bool {
	return c.stage.CompareAndSwap(stageWaiting, stageStarted) || c.stage.Load() == stageStarted
}

// Answer sets what [Combiner.Do] returns once the flush has succeeded.
func (c *Call[T]) Answer(err error) { c.err = err }

func (c *Call[T]) withdrawn() bool { return c.stage.Load() == stageWithdrawn }

// leave ends the caller's interest in the call.
func (c *Call[T]) leave(ctx context.Context) error {
	if c.stage.CompareAndSwap(stageWaiting, stageWithdrawn) {
		return because(ErrWithdrawn, ctx)
	}
	select {
	case <-c.done:
		return c.err
	default:
		c.stage.Store(stageLeft)
		return because(ErrLeft, ctx)
	}
}
