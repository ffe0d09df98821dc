package pgxstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/postgres"
)

// recheck is how often a waiter comes back though nobody told it anything: whoever
// ended the run may have died before it told.
const recheck = 2 * time.Second

// WaitChange is [semel.ChangeWaiter]. It comes back every two seconds at least, and with
// an error that matches [semel.ErrUnsupported] where nothing can listen.
func (s *Store) WaitChange(ctx context.Context, p semel.WaitParams) (semel.WaitResult, error) {
	told, leave, err := s.waiters.enter(ctx, p.Key)
	if err != nil {
		return semel.WaitResult{}, err
	}
	defer leave()
	goesOn, err := postgres.Await(ctx, s.inner, p)
	if err != nil || !goesOn {
		return semel.WaitResult{}, err
	}
	t := time.NewTimer(recheck)
	defer t.Stop()
	select {
	case <-told:
	case <-t.C:
	case <-ctx.Done():
		return semel.WaitResult{}, context.Cause(ctx)
	}
	return semel.WaitResult{}, nil
}

// waiters are the calls that wait in this process.
type waiters struct {
	config  *pgx.ConnConfig // nil: nothing can listen
	channel string

	mu        sync.Mutex
	rooms     map[semel.KeyID]map[chan struct{}]struct{} // each channel is closed once
	ear       *ear                                       // nil while nobody listens
	backoff   time.Duration                              // see pause
	notBefore time.Time
	closed    bool
	under     sync.WaitGroup
}

func newWaiters(config *pgx.ConnConfig) *waiters {
	return &waiters{config: config, rooms: make(map[semel.KeyID]map[chan struct{}]struct{})}
}

var (
	errNoEar  = fmt.Errorf("pgxstore: no direct connection to listen on; set Options.Listen: %w", semel.ErrUnsupported)
	errDeaf   = fmt.Errorf("%w: pgxstore: the connection that listens broke", semel.ErrStoreUnavailable)
	errClosed = fmt.Errorf("%w: pgxstore: the store is closed", semel.ErrStoreUnavailable)
)

// enter returns a channel that is closed when the key is told of. It comes back when the
// server listens, so that nothing from then on is missed.
func (w *waiters) enter(ctx context.Context, key semel.KeyID) (told <-chan struct{}, leave func(), err error) {
	if w.config == nil {
		return nil, nil, errNoEar
	}
	seat := make(chan struct{})
	ear, err := w.sit(key, seat)
	if err != nil {
		return nil, nil, err
	}
	leave = func() { w.rise(key, seat) }
	select {
	case <-ear.listening:
		return seat, leave, nil
	case <-ear.ended:
		err = errors.Join(semel.ErrStoreUnavailable, ear.err)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	leave()
	return nil, nil, err
}

// sit takes a seat, and begins to listen if nobody does.
func (w *waiters) sit(key semel.KeyID, seat chan struct{}) (*ear, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, errClosed
	case w.ear == nil && time.Now().Before(w.notBefore):
		return nil, errDeaf
	}
	if w.rooms[key] == nil {
		w.rooms[key] = make(map[chan struct{}]struct{})
	}
	w.rooms[key][seat] = struct{}{}
	if w.ear == nil {
		w.ear = newEar()
		w.under.Go(func() { w.listen(w.ear) })
	}
	return w.ear, nil
}

// rise leaves a seat.
func (w *waiters) rise(key semel.KeyID, seat chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.rooms[key], seat)
	if len(w.rooms[key]) == 0 {
		delete(w.rooms, key)
	}
}

// deserted reports that nobody waits.
func (w *waiters) deserted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.rooms) == 0
}

// tell wakes those who wait for a key.
func (w *waiters) tell(key semel.KeyID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for seat := range w.rooms[key] {
		close(seat)
	}
	delete(w.rooms, key)
}

// tellAll wakes everybody; w.mu is held.
func (w *waiters) tellAll() {
	for _, seats := range w.rooms {
		for seat := range seats {
			close(seat)
		}
	}
	clear(w.rooms)
}

// close ends the connection that listens, and wakes everybody.
func (w *waiters) close() {
	w.mu.Lock()
	w.closed = true
	if w.ear != nil {
		w.ear.cancel()
	}
	w.mu.Unlock()
	w.under.Wait()
}
