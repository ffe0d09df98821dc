package idgen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
)

// Node issues [Snowflake] ids under a worker id that it leases from a store. Have one a
// process. All methods may be called concurrently.
//
// # What it promises
//
// No two ids of a group are equal, and each id of a node is greater than all that it
// had returned before the call. Ids of different nodes order as well as their clocks agree.
//
// # Why no id comes twice
//
// An id is milliseconds, worker id and sequence. The record of a worker id keeps a
// horizon, as its checkpoint, and three rules hold:
//
//  1. A node issues an id of millisecond t only when the store has acknowledged a
//     horizon of t or later, written under the token of the node's claim.
//  2. A node that claims a worker id reads the horizon after its claim, and issues only
//     ids of later milliseconds.
//  3. Within one claim, numbers only grow: one compare-and-swap for all callers.
//
// After a claim the store refuses every write under an earlier token ([semel.ErrFenced]).
// So the horizon that rule 2 reads is at or past everything that rule 1 has ever let any
// earlier holder use: the milliseconds of two holders of one worker id do not overlap.
// No clock occurs in this argument. It holds when a process is killed, when the next
// holder's clock is an hour back, when a clock ran an hour ahead and was corrected, and
// when a holder sleeps beyond its lease without noticing. A late write of the holder
// itself could move its horizon back: so a node that got no reply to a reservation makes no
// further one under that token, and moves to another worker id.
//
// The lease says who may try. It is renewed from a third on; issuing stops at the local
// deadline (monotonic time before the claim or renewal was sent + Lease - max(Lease/10,
// 50ms)), before the worker id can pass to somebody else. The node then takes a worker id
// by itself, the same or another, and goes on above its last id. Meanwhile [Node.Next]
// is a [*LeaseError].
//
// All of that is as good as the store's own promises: one that forgets acknowledged writes,
// such as Redis after a failover, can forget a horizon. See docs/stores.md.
//
// # The clock
//
// An id bears the time of this host's clock, or up to 10 ms more: a millisecond whose
// sequence is used up borrows from the next ones, and a clock that was set back by so little
// changes nothing. For more, Next waits until the clock has caught up, at most
// Options.MaxWait; a larger step is a [*ClockError] at once. The same holds over a
// restart, against the horizon of each worker id that is free. A node does not start on a
// host whose clock differs from the store's by more than Options.MaxSkew.
type Node struct {
	opts   Options
	layout Layout
	epoch  int64 // of the layout, in milliseconds
	store  semel.Store
	engine *semel.Engine

	held atomic.Pointer[tenure]
	poke chan struct{} // asks the keeper for a reservation; holds one

	mu    sync.Mutex
	round chan struct{} // closed and replaced when the keeper has done something
	err   error         // what the keeper's last round failed with

	ctx  context.Context // ends when Close begins
	stop context.CancelFunc
	kept chan struct{} // closed when the keeper has ended
}

// NewNode takes a worker id of the group and returns the node that holds it; opts may be
// nil. It tries the worker ids in random order, each at most once, until one is free: one
// store call for each that is taken. One goroutine keeps the worker id until
// [Node.Close].
//
// Errors: all mistakes in opts at once; [semel.ErrUnsupported] if the store is no
// [semel.Checkpointer]; [*WorkersError], [*ClockError], [*LayoutError]; a
// [*semel.StoreError]; or the cause of ctx.
func NewNode(ctx context.Context, store semel.Store, opts *Options) (*Node, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	engine, err := o.engine(store)
	if err != nil {
		return nil, err
	}
	if _, ok := store.(semel.Checkpointer); !ok {
		return nil, errNoCheckpoints
	}
	n := &Node{
		opts: o, layout: o.Layout, epoch: o.Layout.Epoch.UnixMilli(), store: store, engine: engine,
		poke: make(chan struct{}, 1), round: make(chan struct{}), kept: make(chan struct{}),
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	t, err := n.first(ctx)
	if err != nil {
		n.stop()
		return nil, errors.Join(err, n.shutEngine(ctx))
	}
	n.held.Store(t)
	go n.keep(t)
	return n, nil
}

var errNoCheckpoints = fmt.Errorf("idgen: the store keeps no checkpoints, so nothing can be reserved in it; use one that does, as all of Semel's: %w", semel.ErrUnsupported)

// shutEngine ends an engine that holds nothing.
func (n *Node) shutEngine(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return n.engine.Close(ctx)
}

// Next returns the next id. It waits for the clock as [Options.MaxWait] allows, and for
// the store when the milliseconds that it has reserved are over, which a node that
// is not starved of CPU does not see; ctx is looked at only then. Errors: [*ClockError]; [*LeaseError];
// [ErrTimeSpent]; [ErrClosed]; or the cause of ctx.
func (n *Node) Next(ctx context.Context) (Snowflake, error) {
	waited := int64(-1) // the tick at which this call last waited for the clock
	for {
		t, now := n.held.Load(), n.tick()
		id, lead, v := t.take(now)
		var err error
		switch v {
		case issued:
			return id, nil
		case early:
			err = n.awaitClock(ctx, t, now+lead, &waited)
		case spent:
			err = ErrTimeSpent
		default:
			err = n.awaitKeeper(ctx, t)
		}
		if err != nil {
			return 0, err
		}
	}
}

// awaitClock waits until the clock has come near to a tick. It looks at the clock again: the
// caller may have been off the CPU since it did. A clock that stood still while this call
// waited is no better than one that is far behind.
func (n *Node) awaitClock(ctx context.Context, t *tenure, tick int64, waited *int64) error {
	now := n.tick()
	if tick-now <= maxLead {
		return nil
	}
	behind := time.Duration(tick-now) * time.Millisecond
	if now <= *waited || behind-maxLead*time.Millisecond > n.opts.MaxWait {
		return &ClockError{Behind: behind, Of: t.lastID()}
	}
	*waited = now
	timer := n.opts.Clock.NewTimer(behind - maxLead/2*time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.ctx.Done():
		return ErrClosed
	}
}

// awaitKeeper wakes the keeper and waits until it has reserved more, or taken another
// worker id, or failed.
func (n *Node) awaitKeeper(ctx context.Context, t *tenure) error {
	n.mu.Lock()
	round, err := n.round, n.err
	n.mu.Unlock()
	switch {
	case n.ctx.Err() != nil:
		return ErrClosed
	case n.held.Load() != t:
		return nil
	case err != nil:
		return &LeaseError{Err: err}
	}
	select {
	case n.poke <- struct{}{}:
	default:
	}
	select {
	case <-round:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.ctx.Done():
		return ErrClosed
	}
}

// Worker returns the worker id of the next id, as far as that is known: it changes when
// a lease is lost.
func (n *Node) Worker() int { return n.held.Load().worker }

// Close stops the issuing and gives the worker id back, so that the next node may take it
// at once. No goroutine is left. It waits for the store, a few seconds at most, and until
// ctx ends for a claim that is still to be given back; its error counts what is left,
// which is free again when its lease is over. It may be called again.
func (n *Node) Close(ctx context.Context) error {
	n.stop()
	<-n.kept
	return n.engine.Close(ctx)
}

// tick is the time of the next id.
func (n *Node) tick() int64 { return n.opts.Now().UnixMilli() - n.epoch }
