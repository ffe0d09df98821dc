package idgen

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
)

// keep is the node's goroutine: it reserves ahead, moves to another worker id when it
// must, and gives the last one back.
func (n *Node) keep(t *tenure) {
	defer close(n.kept)
	for n.rest(t) {
		next, err := n.tend(t)
		n.report(t, next, err)
		t = next
	}
	t.end()
	n.leave(t)
}

// rest waits until something is to be done, and is false when the node is closed. After
// a failure it only waits: callers are refused meanwhile.
func (n *Node) rest(t *tenure) bool {
	pause, poke, lost := n.opts.Lease/3, n.poke, t.run.Context().Done()
	if n.failed() {
		pause, poke, lost = n.opts.Lease/12, nil, nil
	}
	timer := n.opts.Clock.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-poke:
	case <-lost:
	case <-n.ctx.Done():
	}
	return n.ctx.Err() == nil
}

// tend reserves more for a tenure, or returns the one that follows it.
func (n *Node) tend(t *tenure) (*tenure, error) {
	if t.run.Context().Err() != nil {
		t.end() // the watch may not have come to it yet
	}
	if !t.unsure && !t.ended() {
		err := n.reserve(n.ctx, t)
		switch {
		case err == nil:
			return t, nil
		case errors.Is(err, semel.ErrFenced):
			t.end()
		case !errors.Is(err, semel.ErrNoReply):
			return t, err // the store did nothing for certain, so the same may be asked again
		}
		t.unsure = true
	}
	return n.move(t)
}

// move takes another worker id and puts it in the place of t. While t still has
// milliseconds it goes on meanwhile; otherwise it is given back first, so that it may be
// the other one.
func (n *Node) move(t *tenure) (*tenure, error) {
	if n.tick() > t.until.Load() {
		t.end()
	}
	if t.ended() {
		n.leave(t)
	}
	next, err := n.settle(n.ctx)
	if err != nil {
		return t, err
	}
	t.end()
	next.skip(t.tick()) // what comes is greater than what t has issued
	n.held.Store(next)
	n.leave(t)
	n.opts.Logger.LogAttrs(n.ctx, slog.LevelWarn, "idgen: another worker id was taken, the lease or a reservation of the last one failed",
		slog.String("group", n.opts.Group), slog.Int("from", t.worker), slog.Int("to", next.worker))
	return next, nil
}

// leave gives the worker id of an ended tenure back, once. What it has reserved and not
// used is the next holder's.
func (n *Node) leave(t *tenure) {
	if t.quiet == nil {
		return
	}
	t.quiet()
	t.quiet = nil
	if !t.unsure && t.run.Context().Err() == nil {
		// If it fails the next holder begins a little later, or waits.
		_ = t.run.Checkpoint(context.Background(), horizonText(n.layout.moment(t.tick())))
	}
	t.run.Finish(semel.Verdict{State: semel.StateReleased})
}

// report tells waiting callers what became of a round.
func (n *Node) report(from, to *tenure, err error) {
	if err != nil && !n.failed() && n.ctx.Err() == nil {
		left := max(time.Duration(from.until.Load()-n.tick())*time.Millisecond, 0)
		n.opts.Logger.LogAttrs(n.ctx, slog.LevelWarn, "idgen: reserving ids failed; it is tried again",
			slog.String("group", n.opts.Group), slog.Int("worker", to.worker), slog.Duration("ids_left_for", left), slog.Any("error", err))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.err = err
	close(n.round)
	n.round = make(chan struct{})
}

func (n *Node) failed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err != nil
}
