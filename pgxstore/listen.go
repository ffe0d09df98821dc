package pgxstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel"
)

const (
	// idle is how often the connection is looked after: closed if nobody waits, and
	// else tried, so that a dead one is found out.
	idle = 30 * time.Second
	// connectTimeout is how long connecting may take.
	connectTimeout = 5 * time.Second
	// minPause and maxPause are between two connections, the first of which was none.
	minPause = 100 * time.Millisecond
	maxPause = 10 * time.Second
)

// ear is one connection that listens. It ends when nobody waits any more, when the
// connection breaks, or with the store.
type ear struct {
	ctx       context.Context
	cancel    context.CancelFunc
	listening chan struct{} // closed when the server listens
	ended     chan struct{} // closed when it does no longer
	err       error         // why; set before ended is closed
}

func newEar() *ear {
	ctx, cancel := context.WithCancel(context.Background())
	return &ear{ctx: ctx, cancel: cancel, listening: make(chan struct{}), ended: make(chan struct{})}
}

// listen lives as long as the ear. Whoever waits when it ends looks for himself, and
// the next waiter opens another one.
func (w *waiters) listen(e *ear) {
	defer e.cancel()
	heard, err := w.hear(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ear = nil
	w.pause(heard)
	e.err = err
	close(e.ended)
	w.tellAll()
}

// pause keeps the next ear back for longer and longer, until one has heard.
func (w *waiters) pause(heard bool) {
	if heard {
		w.backoff = 0
		return
	}
	w.backoff = min(max(2*w.backoff, minPause), maxPause)
	w.notBefore = time.Now().Add(w.backoff)
}

// hear connects and hands notifications out; heard tells that it got so far.
func (w *waiters) hear(e *ear) (heard bool, err error) {
	conn, err := w.connect(e.ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, hangUp(conn)) }()
	close(e.listening)
	for err == nil {
		err = w.hearNext(e.ctx, conn)
	}
	if errors.Is(err, errDeserted) {
		err = nil
	}
	return true, err
}

var errDeserted = errors.New("pgxstore: nobody waits")

func (w *waiters) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, w.config.Copy())
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{w.channel}.Sanitize()); err != nil {
		return nil, errors.Join(err, hangUp(conn))
	}
	return conn, nil
}

// hearNext hands one notification out, or tries the connection after a while without.
func (w *waiters) hearNext(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, idle)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		if key, err := semel.ParseKeyID(n.Payload); err == nil {
			w.tell(key)
		}
		return nil
	case ctx.Err() != nil || wait.Err() == nil:
		return err
	case w.deserted():
		return errDeserted
	}
	try, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := conn.Ping(try); err != nil {
		return fmt.Errorf("pgxstore: the connection that listens: %w", err)
	}
	return nil
}

// hangUp says goodbye, if the server still listens to that.
func hangUp(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return conn.Close(ctx)
}
