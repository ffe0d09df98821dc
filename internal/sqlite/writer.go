package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel/internal/combiner"
)

// operation is one method call, as a step inside a transaction. Its error is an
// answer of the contract, but for a *failure, which ends the transaction.
type operation interface {
	apply(t *tx) error
	// sortKey orders the operations of a batch.
	sortKey() []byte
}

// writer holds the one connection that writes, and its prepared statements. Only
// the combiner's flush uses it.
type writer struct {
	db       *sql.DB
	sql      *[statements]string
	now      func() int64
	patience time.Duration // for the write lock
	conn     *sql.Conn
	prepared [statements]*sql.Stmt
}

// flush executes a batch in one transaction. ctx bounds the wait for the lock.
func (w *writer) flush(ctx context.Context, batch []*combiner.Call[operation]) error {
	t, err := w.begin(ctx)
	if err != nil {
		return err
	}
	for _, call := range batch {
		if !call.Start() {
			continue
		}
		answer := call.Op.apply(t)
		if f, ok := errors.AsType[*failure](answer); ok {
			w.rollback(f)
			return f
		}
		call.Answer(answer)
	}
	return w.end(t)
}

// end commits, if there is anything to commit.
func (w *writer) end(t *tx) error {
	if !t.changed {
		w.rollback(nil)
		return nil
	}
	if _, err := w.exec(stmtCommit); err != nil {
		f := uncommitted(err)
		w.rollback(f)
		return f
	}
	return nil
}

// rollback undoes the transaction. Where that fails, or the connection is of no
// use any more, dropping the connection does it.
func (w *writer) rollback(f *failure) {
	_, err := w.exec(stmtRollback)
	if err != nil || f != nil && f.class == classBroken {
		w.disconnect()
	}
}

// begin starts a transaction that holds the write lock.
func (w *writer) begin(ctx context.Context) (*tx, error) {
	if err := w.connectIfNone(ctx); err != nil {
		return nil, undone(err)
	}
	if f := w.lock(ctx); f != nil {
		if f.class != classBusy {
			w.disconnect()
		}
		return nil, f
	}
	return &tx{runner: w, now: w.now()}, nil
}

// connectIfNone takes a connection, unless there is one. The pool may be used up by
// others.
func (w *writer) connectIfNone(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	return w.connect(ctx)
}

// connect takes a connection out of the pool for good.
func (w *writer) connect(ctx context.Context) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := admit(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	w.conn = conn
	return nil
}

// disconnect gives the connection up, so that the next transaction starts on a
// new one.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	for i, stmt := range w.prepared {
		if stmt != nil {
			stmt.Close()
			w.prepared[i] = nil
		}
	}
	discard(w.conn)
	w.conn = nil
}

// exec runs a statement that no caller can cancel.
func (w *writer) exec(id statement, args ...any) (sql.Result, error) {
	stmt, err := w.stmt(id)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args...)
}

func (w *writer) query(id statement, args ...any) (*sql.Rows, error) {
	stmt, err := w.stmt(id)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// stmt prepares a statement at its first use.
func (w *writer) stmt(id statement) (*sql.Stmt, error) {
	if w.prepared[id] == nil {
		stmt, err := w.conn.PrepareContext(context.Background(), w.sql[id])
		if err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		w.prepared[id] = stmt
	}
	return w.prepared[id], nil
}
