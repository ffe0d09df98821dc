package demo

import (
	"context"
	"slices"
	"sync"
	"time"
)

// board is what happened in each lane since the last reset. All methods may be
// called concurrently.
type board struct {
	tally tally
	bell  *bell

	mu    sync.Mutex
	lanes []*lane
}

// tally counts, in a service's own table, what a story has done to an order.
type tally func(ctx context.Context, story, order string) (count int, total int64, err error)

func newBoard(t tally, changes *bell) *board {
	b := &board{tally: t, bell: changes}
	b.reset()
	return b
}

// reset begins all stories anew, with new orders and keys.
func (b *board) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lanes = nil
	for _, story := range stories() {
		for _, side := range sidesOf(story) {
			b.lanes = append(b.lanes, newLane(story, side))
		}
	}
	b.bell.ring()
}

// snapshot returns copies of the lanes.
func (b *board) snapshot() []lane {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []lane
	for _, l := range b.lanes {
		c := *l
		c.attempts = slices.Clone(l.attempts)
		all = append(all, c)
	}
	return all
}

// begin notes that a request with a lane's key is on its way. The returned function is
// told how it ended. Requests that belong to no lane are not noted.
func (b *board) begin(side, key string) (end func(attempt)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.find(func(l *lane) bool { return l.key == key && l.side == side })
	if l == nil {
		return func(attempt) {}
	}
	n, at := len(l.attempts), time.Now()
	l.attempts = append(l.attempts, attempt{at: at})
	if l.stage == stageStart {
		l.stage = stageSent
	}
	b.bell.ring()
	return func(a attempt) {
		a.at, a.ended = at, true
		b.end(l, n, a)
	}
}

func (b *board) end(l *lane, n int, a attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.end(n, a)
	b.bell.ring()
}

// charged reads from the service's table what was done to order. The lock keeps
// an older count from overtaking a newer one.
func (b *board) charged(order string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.find(func(l *lane) bool { return l.order == order })
	if l == nil {
		return
	}
	if count, total, err := b.tally(context.Background(), l.story, order); err == nil {
		l.charges, l.total = count, total
	}
	b.bell.ring()
}

// settled notes what the operator decided.
func (b *board) settled(key string, f finding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.find(func(l *lane) bool { return l.key == key })
	if l == nil {
		return
	}
	l.stage, l.settled = stageReleased, f.Charge
	if f.Happened {
		l.stage = stageSettled
	}
	b.bell.ring()
}

func (b *board) find(is func(*lane) bool) *lane {
	if i := slices.IndexFunc(b.lanes, is); i >= 0 {
		return b.lanes[i]
	}
	return nil
}
