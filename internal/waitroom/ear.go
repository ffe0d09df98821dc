package waitroom

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

const (
	// idle is how often the connection is looked after: closed if nobody waits, and
	// else tried, so that a dead one is found out.
	idle = 30 * time.Second
	// TryTimeout is how long trying a connection, and opening one, may take.
	TryTimeout = 5 * time.Second
	// minPause and maxPause are between two connections, the first of which was none.
	minPause = 100 * time.Millisecond
	maxPause = 10 * time.Second
)

// Ear is a connection that listens.
type Ear interface {
	// Hear returns the next key that is told of; not ok for a message without one. It
	// ends with ctx.
	Hear(ctx context.Context) (key semel.KeyID, ok bool, err error)
	// Try asks the server whether the connection still lives.
	Try(ctx context.Context) error
	// Close says goodbye.
	Close() error
}

// session is one ear of a room. It ends when nobody waits any more, when the connection
// breaks, or with the room.
type session struct {
	ctx       context.Context
	cancel    context.CancelFunc
	listening chan struct{} // closed when the server listens
	ended     chan struct{} // closed when it does no longer
	err       error         // why; set before ended is closed
}

func newSession() *session {
	ctx, cancel := context.WithCancel(context.Background())
	return &session{ctx: ctx, cancel: cancel, listening: make(chan struct{}), ended: make(chan struct{})}
}

// listen lives as long as the session. Whoever waits when it ends looks for himself, and
// the next waiter opens another one.
func (r *Room) listen(s *session) {
	defer s.cancel()
	heard, err := r.hear(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ear = nil
	r.pause(heard)
	s.err = err
	close(s.ended)
	r.tellAll()
}

// pause keeps the next session back for longer and longer, until one has heard.
func (r *Room) pause(heard bool) {
	if heard {
		r.backoff = 0
		return
	}
	r.backoff = min(max(2*r.backoff, minPause), maxPause)
	r.notBefore = time.Now().Add(r.backoff)
}

// hear connects and hands keys out; heard tells that it got so far.
func (r *Room) hear(s *session) (heard bool, err error) {
	ear, err := r.open(s.ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, ear.Close()) }()
	close(s.listening)
	for err == nil {
		err = r.hearNext(s.ctx, ear)
	}
	if errors.Is(err, errDeserted) {
		err = nil
	}
	return true, err
}

var errDeserted = errors.New("nobody waits")

// hearNext hands one key out, or tries the connection after a while without.
func (r *Room) hearNext(ctx context.Context, ear Ear) error {
	wait, cancel := context.WithTimeout(ctx, idle)
	defer cancel()
	key, ok, err := ear.Hear(wait)
	switch {
	case err == nil:
		if ok {
			r.Tell(key)
		}
		return nil
	case ctx.Err() != nil || wait.Err() == nil:
		return err
	case r.deserted():
		return errDeserted
	}
	try, cancel := context.WithTimeout(ctx, TryTimeout)
	defer cancel()
	if err := ear.Try(try); err != nil {
		return fmt.Errorf("the connection that listens: %w", err)
	}
	return nil
}
