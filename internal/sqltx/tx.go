package sqltx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
)

// tx is one transaction, on a connection that is not handed back in a doubtful
// state.
type tx struct {
	d      *Database
	unlock func()
	conn   *sql.Conn
	tx     *sql.Tx
	cancel context.CancelFunc // of what drivers take for the life of the transaction
	left   bool               // a statement hangs: see step
}

// begin opens the transaction. It ends with ctx only until begin has returned.
func (t *tx) begin(ctx context.Context) (err error) {
	if t.conn, err = t.d.db.Conn(ctx); err != nil {
		return err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.cancel = cancel
	stop := context.AfterFunc(ctx, cancel)
	err = t.step(ctx, func() (err error) {
		t.tx, err = t.conn.BeginTx(life, t.d.opts)
		return err
	})
	if !stop() {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

// claim claims and marks the place where the work begins.
func (t *tx) claim(ctx context.Context, p semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error) {
	var res semel.ClaimResult
	err := t.step(ctx, func() (err error) {
		res, err = t.d.dialect.ClaimTx(ctx, t.tx, &p, wait)
		if err == nil && res.Outcome == semel.ClaimAcquired {
			_, err = t.tx.ExecContext(ctx, "SAVEPOINT "+Savepoint)
		}
		return err
	})
	if t.left {
		return semel.ClaimResult{}, err
	}
	return res, err
}

// Handle is [intx.Tx]'s.
func (t *tx) Handle() *sql.Tx { return t.tx }

// Undo is [intx.Tx]'s.
func (t *tx) Undo(ctx context.Context) error {
	return endedOr(t.step(ctx, func() error {
		_, err := t.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+Savepoint)
		return err
	}))
}

// Commit is [intx.Tx]'s.
func (t *tx) Commit(ctx context.Context, p *semel.FinishParams) error {
	err := t.step(ctx, func() error {
		found, err := t.d.dialect.FinishTx(ctx, t.tx, p)
		if err == nil && !found {
			err = intx.ErrEnded
		}
		return err
	})
	if err != nil {
		_ = t.Rollback() // the first error counts, and says all
		return endedOr(err)
	}
	if err = t.end(ctx, t.tx.Commit); err == nil || errors.Is(err, sql.ErrTxDone) {
		return endedOr(err)
	}
	if _, open := t.d.dialect.ClassTx(err); open {
		return fmt.Errorf("%w: commit: %w", semel.ErrNoReply, err)
	}
	return err
}

// rollbackTimeout bounds a rollback; without a reply the database rolls back when it
// sees that the connection is gone.
const rollbackTimeout = 5 * time.Second

// Rollback is [intx.Tx]'s.
func (t *tx) Rollback() error {
	if t.left {
		return errLeft
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	return endedOr(t.end(ctx, t.tx.Rollback))
}

// end commits or rolls back. Some drivers take no context for that, so a reply that
// never comes is left to a goroutine, which ends with the driver's call.
func (t *tx) end(ctx context.Context, how func() error) error {
	done := make(chan error, 1)
	go func() {
		err := how()
		t.close(err == nil)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t.cancel()
	return context.Cause(ctx)
}

// close gives the connection back to its pool if it is sound, and to nobody else.
func (t *tx) close(sound bool) {
	if t.cancel != nil {
		t.cancel()
	}
	if t.conn != nil {
		if !sound {
			_ = t.conn.Raw(func(any) error { return driver.ErrBadConn }) // how a connection is thrown away
		}
		_ = t.conn.Close() // of a connection that is not used any more
	}
	t.unlock()
}

// endedOr translates what database/sql says of a transaction that is over.
func endedOr(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return intx.ErrEnded
	}
	return err
}
