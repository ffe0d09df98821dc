// Package combiner turns concurrent calls into batches without waiting for any.
//
// A call that finds the combiner idle is flushed at once, alone, by its caller.
// Calls that arrive while a flush is under way form the next batch. Nothing waits
// for a batch to fill, and there is no goroutine while there are no calls. A
// combiner of several lanes opens another one for calls that a slow or hung flush
// keeps waiting, may flush a few calls side by side before it forms batches, and may
// have several batches under way.
//
//	c := combiner.New(combiner.Config[*op]{Max: 512, Flush: flush})
//	err := c.Do(ctx, op)
package combiner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Errors of [Combiner.Do]. Both come with the cause of the context where there
// is one.
var (
	// ErrWithdrawn: the context ended, or the combiner was closed, before the call
	// was started. It has no effect, for certain.
	ErrWithdrawn = errors.New("combiner: withdrawn before it was started")
	// ErrLeft: the context ended after the call was started. It may have an effect.
	ErrLeft = errors.New("combiner: the caller left before the batch was over")
)

// Config describes a combiner.
type Config[T any] struct {
	// Max is the largest number of calls in a batch. Default 512. With 1 and several
	// lanes there are no batches: each call is flushed by its caller, at once.
	Max int
	// Compare orders the calls of a batch; equal ones stay in order of arrival.
	// Default: all in order of arrival.
	Compare func(a, b T) int
	// Flush executes a batch. It must call [Call.Start] on each call before it
	// gives the call any effect, skip those that answer false, and answer each
	// started call by [Call.Answer]. An error answers the whole batch instead.
	// ctx is the caller's when he flushes his own call. It never ends otherwise: a
	// batch is no single caller's to cancel. Flushes overlap only with several
	// lanes.
	Flush func(ctx context.Context, batch []*Call[T]) error
	// Alone says of an error of Flush that nothing of the batch has taken effect
	// and that one call may have spoilt it for the others: each call is then
	// flushed alone. Default: never.
	Alone func(err error) bool
	// Lanes is the largest number of flushes under way. Default 1.
	Lanes int
	// Direct is how many calls are flushed alone, side by side, each by its caller,
	// while there are no more: for a server that makes concurrent commits durable
	// together. It is at most Lanes. Default 1.
	Direct int
	// Flights is how many batches are under way where calls share them, so that the
	// server works on one while the next is made. It is at most Lanes. Default 1.
	Flights int
	// Patience is for how long calls wait for the flush under way before another
	// lane is opened for them. Default 10ms.
	Patience time.Duration
}

// Combiner batches calls. Make one with [New]. All methods may be called
// concurrently.
type Combiner[T any] struct {
	cfg Config[T]

	mu     sync.Mutex
	queue  []*Call[T]
	lanes  lanes
	crowd  crowd
	closed bool
	idle   chan struct{} // closed when a closed combiner has nothing left; nil until Close
}

// New returns a combiner. It starts no goroutine.
func New[T any](cfg Config[T]) *Combiner[T] {
	cfg.Max = cmp.Or(cfg.Max, 512)
	cfg.Lanes = cmp.Or(cfg.Lanes, 1)
	cfg.Patience = cmp.Or(cfg.Patience, 10*time.Millisecond)
	if cfg.Max == 1 && cfg.Lanes > 1 {
		cfg.Lanes, cfg.Direct = math.MaxInt, math.MaxInt
	}
	cfg.Direct = min(cmp.Or(cfg.Direct, 1), cfg.Lanes)
	cfg.Flights = min(cmp.Or(cfg.Flights, 1), cfg.Lanes)
	return &Combiner[T]{
		cfg:   cfg,
		lanes: lanes{max: cfg.Lanes, flights: cfg.Flights, patience: cfg.Patience},
		crowd: crowd{direct: cfg.Direct, flights: cfg.Flights},
	}
}

// Do executes op in some batch and returns its answer. The batch does not depend
// on ctx: when ctx ends first, Do returns [ErrWithdrawn] or [ErrLeft], according
// to whether op was started, and op must not be touched after ErrLeft. A caller
// who flushes his own call stays until it is over once it is started.
func (c *Combiner[T]) Do(ctx context.Context, op T) error {
	if ctx.Err() != nil {
		return because(ErrWithdrawn, ctx)
	}
	call := &Call[T]{Op: op}
	switch role, lane := c.enter(call); role {
	case refused:
		return fmt.Errorf("%w: closed", ErrWithdrawn)
	case leads:
		return c.lead(ctx, lane, call)
	}
	select {
	case <-call.done:
		return call.err
	case <-ctx.Done():
		return call.leave(ctx)
	}
}

// role is what becomes of a call that enters.
type role int

const (
	refused role = iota // closed
	leads               // nobody flushes, or few do: its caller does
	follows             // queued for the next batch
)

func (c *Combiner[T]) enter(call *Call[T]) (role, *lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return refused, nil
	case c.crowd.admits(len(c.lanes.open)):
		c.crowd.flushes(1)
		return leads, c.lanes.enter()
	}
	c.crowd.gathers()
	call.done = make(chan struct{})
	c.queue = append(c.queue, call)
	c.watch()
	return follows, nil
}

// lead flushes the caller's own call. Those that came meanwhile are not his work.
func (c *Combiner[T]) lead(ctx context.Context, l *lane, call *Call[T]) error {
	defer func() {
		if batch := c.next(l); batch != nil {
			go c.run(l, batch)
		}
	}()
	if err := c.cfg.Flush(ctx, []*Call[T]{call}); err != nil {
		return err
	}
	return call.err
}

// run flushes batch after batch until the queue is empty, or another lane has it.
func (c *Combiner[T]) run(l *lane, batch []*Call[T]) {
	for ; batch != nil; batch = c.next(l) {
		c.flush(batch)
	}
}

// next takes the next batch for a lane that is through with its last one. Without
// any, or where another lane is at hand for it, the lane ends.
func (c *Combiner[T]) next(l *lane) []*Call[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	batch := []*Call[T](nil)
	if !c.lanes.surplus(l) {
		batch = c.take()
	}
	if batch == nil {
		c.lanes.leave(l)
		c.signalIdle()
	} else {
		l.began = time.Now()
		c.crowd.flushes(len(batch))
	}
	c.watch()
	return batch
}

// take takes a batch off the queue, without calls that were withdrawn; nil if
// there is none.
func (c *Combiner[T]) take() []*Call[T] {
	c.queue = slices.DeleteFunc(c.queue, (*Call[T]).withdrawn)
	n := min(len(c.queue), c.cfg.Max)
	if n == 0 {
		return nil
	}
	batch := slices.Clone(c.queue[:n])
	c.queue = slices.Delete(c.queue, 0, n)
	return batch
}

// watch sees to it that calls in the queue do not wait for a slow flush longer than
// patience says.
func (c *Combiner[T]) watch() {
	if len(c.queue) > 0 && c.lanes.mayOpen() {
		c.lanes.alarm(c.overtake)
	}
}

// overtake opens a lane for calls that have waited long enough.
func (c *Combiner[T]) overtake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lanes.alarmed = false
	if !c.lanes.mayOpen() || c.lanes.attended() {
		c.watch()
		return
	}
	if batch := c.take(); batch != nil {
		go c.run(c.lanes.enter(), batch)
	}
	c.watch()
}

// flush executes one batch, and its calls one by one if that is what the error
// asks for.
func (c *Combiner[T]) flush(batch []*Call[T]) {
	if c.cfg.Compare != nil {
		slices.SortStableFunc(batch, func(a, b *Call[T]) int { return c.cfg.Compare(a.Op, b.Op) })
	}
	err := c.cfg.Flush(context.Background(), batch)
	if err != nil && len(batch) > 1 && c.cfg.Alone != nil && c.cfg.Alone(err) {
		c.flushAlone(batch)
		return
	}
	c.settle(batch, err)
}

// flushAlone flushes the calls of a spoilt batch one by one, as many side by side
// as there are lanes, so that a call that has to wait delays few others.
func (c *Combiner[T]) flushAlone(batch []*Call[T]) {
	calls := make(chan *Call[T], len(batch))
	for _, call := range batch {
		calls <- call
	}
	close(calls)
	var workers sync.WaitGroup
	for range min(c.cfg.Lanes, len(batch)) {
		workers.Go(func() {
			for call := range calls {
				alone := []*Call[T]{call}
				c.settle(alone, c.cfg.Flush(context.Background(), alone))
			}
		})
	}
	workers.Wait()
}

// settle hands the answers out.
func (c *Combiner[T]) settle(batch []*Call[T], err error) {
	for _, call := range batch {
		if err != nil {
			call.err = err
		}
		close(call.done)
	}
}

// Close refuses new calls and waits until the ones that are there are answered,
// or ctx ends.
func (c *Combiner[T]) Close(ctx context.Context) error {
	select {
	case <-c.close():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Combiner[T]) close() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.idle == nil {
		c.idle = make(chan struct{})
		if len(c.lanes.open) == 0 {
			close(c.idle)
		}
	}
	return c.idle
}

// signalIdle tells Close that a closed combiner has nothing left.
func (c *Combiner[T]) signalIdle() {
	if c.idle != nil && len(c.lanes.open) == 0 && len(c.queue) == 0 {
		close(c.idle)
	}
}

func because(err error, ctx context.Context) error {
	return fmt.Errorf("%w: %w", err, context.Cause(ctx))
}
