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
	tally func(ctx context.Context, order string) (count int, total int64, err error)

	mu       sync.Mutex
	lanes    []*lane
	watchers map[chan struct{}]struct{}
}

func newBoard(tally func(ctx context.Context, order string) (int, int64, error)) *board {
	b := &board{tally: tally, watchers: map[chan struct{}]struct{}{}}
	b.reset()
	return b
}

// reset begins all stories anew, with new orders and keys.
func (b *board) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lanes = nil
	for _, story := range stories() {
		for _, side := range sides() {
			b.lanes = append(b.lanes, newLane(story, side))
		}
	}
	b.changed()
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

// begin notes that a request with key is on its way. The returned function is
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
	b.changed()
	return func(a attempt) {
		a.at, a.ended = at, true
		b.end(l, n, a)
	}
}

func (b *board) end(l *lane, n int, a attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.end(n, a)
	b.changed()
}

// charged reads from the shop's table what was charged for order. The lock keeps
// an older count from overtaking a newer one.
func (b *board) charged(order string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.find(func(l *lane) bool { return l.order == order })
	if l == nil {
		return
	}
	if count, total, err := b.tally(context.Background(), order); err == nil {
		l.charges, l.total = count, total
	}
	b.changed()
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
	b.changed()
}

func (b *board) find(is func(*lane) bool) *lane {
	if i := slices.IndexFunc(b.lanes, is); i >= 0 {
		return b.lanes[i]
	}
	return nil
}

// watch returns a channel that gets a signal when something has changed since
// the last one, and a function that ends that.
func (b *board) watch() (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers[ch] = struct{}{}
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, ch)
	}
}

// changed wakes the watchers; one that is awake already misses nothing.
func (b *board) changed() {
	for ch := range b.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
