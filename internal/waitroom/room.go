package waitroom

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// recheck is how often a waiter comes back though nobody told it anything: whoever
// ended the run may have died before it told.
const recheck = 2 * time.Second

// Errors of [Room.Wait].
var (
	errDeaf   = errors.New("the connection that listens broke")
	errClosed = errors.New("the store is closed")
)

// Room holds the calls that wait in this process. Make one with [New]. All methods may
// be called concurrently.
type Room struct {
	open func(ctx context.Context) (Ear, error)

	mu        sync.Mutex
	seats     map[semel.KeyID]map[chan struct{}]struct{} // each channel is closed once
	ear       *session                                   // nil while nobody listens
	backoff   time.Duration                              // see pause
	notBefore time.Time
	closed    bool
	under     sync.WaitGroup
}

// New returns an empty room. open connects, within [TryTimeout], and returns when the
// server listens. Its context is that of the connection, and ends it.
func New(open func(ctx context.Context) (Ear, error)) *Room {
	return &Room{open: open, seats: make(map[semel.KeyID]map[chan struct{}]struct{})}
}

// Wait returns when the key is told of, at the latest after two seconds, or when ctx ends,
// with its cause. goesOn looks once whether there is something to wait for, after the
// server listens, so that nothing from then on is missed. Its error, and that of a
// connection that cannot be had, ends the wait.
func (r *Room) Wait(ctx context.Context, key semel.KeyID, goesOn func(context.Context) (bool, error)) error {
	t := time.NewTimer(recheck)
	defer t.Stop()
	told, leave, err := r.enter(ctx, key, t.C)
	if err != nil || told == nil {
		return err
	}
	defer leave()
	if on, err := goesOn(ctx); err != nil || !on {
		return err
	}
	select {
	case <-told:
	case <-t.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// enter returns a channel that is closed when the key is told of; none if it is late
// before the server listens.
func (r *Room) enter(ctx context.Context, key semel.KeyID, late <-chan time.Time) (told <-chan struct{}, leave func(), err error) {
	seat := make(chan struct{})
	ear, err := r.sit(key, seat)
	if err != nil {
		return nil, nil, errors.Join(semel.ErrStoreUnavailable, err)
	}
	leave = func() { r.rise(key, seat) }
	select {
	case <-ear.listening:
		return seat, leave, nil
	case <-ear.ended:
		err = errors.Join(semel.ErrStoreUnavailable, ear.err)
	case <-late:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	leave()
	return nil, nil, err
}

// sit takes a seat, and begins to listen if nobody does.
func (r *Room) sit(key semel.KeyID, seat chan struct{}) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errClosed
	case r.ear == nil && time.Now().Before(r.notBefore):
		return nil, errDeaf
	}
	if r.seats[key] == nil {
		r.seats[key] = make(map[chan struct{}]struct{})
	}
	r.seats[key][seat] = struct{}{}
	if r.ear == nil {
		e := newSession()
		r.ear = e
		r.under.Go(func() { r.listen(e) })
	}
	return r.ear, nil
}

// rise leaves a seat.
func (r *Room) rise(key semel.KeyID, seat chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seats[key], seat)
	if len(r.seats[key]) == 0 {
		delete(r.seats, key)
	}
}

// deserted reports that nobody waits.
func (r *Room) deserted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seats) == 0
}

// Tell wakes those who wait for a key.
func (r *Room) Tell(key semel.KeyID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for seat := range r.seats[key] {
		close(seat)
	}
	delete(r.seats, key)
}

// tellAll wakes everybody; r.mu is held.
func (r *Room) tellAll() {
	for _, seats := range r.seats {
		for seat := range seats {
			close(seat)
		}
	}
	clear(r.seats)
}

// Close ends the connection that listens, and wakes everybody.
func (r *Room) Close() {
	r.mu.Lock()
	r.closed = true
	if r.ear != nil {
		r.ear.cancel()
	}
	r.mu.Unlock()
	r.under.Wait()
}
