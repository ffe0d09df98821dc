package semel

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// minPoll is the first pause of a duplicate whose store cannot tell it of changes. The
// next ones are twice as long each, up to Options.Poll.
const minPoll = 10 * time.Millisecond

// wait keeps a duplicate until the running one ends or op.Wait is over. It owns
// nothing while it waits: each time something may have changed it claims like
// anybody else, so after a release exactly one waiter gets the run.
func (e *Engine) wait(ctx context.Context, op Op, p *ClaimParams, busy *InProgressError) (*Run, *Record, error) {
	room, err := e.hub.enter(p.Key)
	if err != nil {
		return nil, nil, &InProgressError{RetryAfter: busy.RetryAfter, Err: err, fence: busy.fence}
	}
	defer e.hub.leave(p.Key, room)
	until := e.now().Add(op.Wait)
	for poll := min(minPoll, e.opts.Poll); ; poll = min(2*poll, e.opts.Poll) {
		changed := e.hub.changed(room) // before the claim, so that no change is missed
		r, rec, err := e.claimOnce(ctx, op, p)
		if !errors.As(err, &busy) {
			return r, rec, err
		}
		left := until.Sub(e.now())
		if left <= 0 {
			return nil, nil, busy
		}
		if err := e.change(ctx, p.Key, busy, changed, min(left, spread(poll)), left); err != nil {
			return nil, nil, err
		}
	}
}

// change returns when the record may have changed: the store tells, a run of
// this process tells, or the poll interval is over. A lapse tells nobody, so a
// store that tells is asked again when the lease should be over.
func (e *Engine) change(ctx context.Context, key KeyID, busy *InProgressError, changed <-chan struct{}, poll, left time.Duration) error {
	if e.changes != nil && e.told(ctx, WaitParams{Key: key, Fence: busy.fence}, min(left, max(busy.left, minPoll))) {
		return e.disturbed(ctx)
	}
	t := e.opts.Clock.NewTimer(poll)
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C():
	case <-ctx.Done():
	case <-e.closing.Done():
	}
	return e.disturbed(ctx)
}

// spread is between three quarters of a pause and all of it, so that processes which
// began to wait at one moment do not ask together for ever.
func spread(pause time.Duration) time.Duration { return pause - rand.N(pause/4) }

// told asks the store to tell of a change within d; false means that it cannot.
func (e *Engine) told(ctx context.Context, p WaitParams, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	defer context.AfterFunc(e.closing, cancel)()
	_, err := e.changes.WaitChange(ctx, p)
	return err == nil || ctx.Err() != nil
}

// disturbed is why a waiter has to give up, if it has to.
func (e *Engine) disturbed(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e.closing.Err() != nil {
		return ErrClosed
	}
	return nil
}

// hub seats the waiting duplicates of this process and wakes them.
type hub struct {
	total atomic.Int64 // so that a finish without waiters takes no lock
	mu    sync.Mutex
	rooms map[KeyID]*room
}

// room holds the waiters of one key.
type room struct {
	waiters int
	changed chan struct{} // closed and replaced at each change
}

// enter takes a seat. A key with too many waiters refuses with no cause, a
// process with too many with ErrWaitersFull.
func (h *hub) enter(key KeyID) (*room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.total.Load() >= maxWaiters {
		return nil, ErrWaitersFull
	}
	r := h.rooms[key]
	if r == nil {
		r = &room{changed: make(chan struct{})}
	}
	if r.waiters >= maxWaitersPerKey {
		return nil, errRoomFull
	}
	if h.rooms == nil {
		h.rooms = make(map[KeyID]*room)
	}
	h.rooms[key] = r
	r.waiters++
	h.total.Add(1)
	return r, nil
}

var errRoomFull = errors.New("semel: too many callers wait for this key")

func (h *hub) leave(key KeyID, r *room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total.Add(-1)
	if r.waiters--; r.waiters == 0 {
		delete(h.rooms, key)
	}
}

func (h *hub) changed(r *room) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.changed
}

// notify wakes the waiters of key.
func (h *hub) notify(key KeyID) {
	if h.total.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rooms[key]; r != nil {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}
