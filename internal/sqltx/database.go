package sqltx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
)

// Database opens transactions of a pool.
type Database struct {
	db      *sql.DB
	dialect Dialect
	opts    *sql.TxOptions
	heeds   bool // see step
}

var _ intx.Database[*sql.Tx] = (*Database)(nil)

// New returns the transactions of db, in which dialect claims.
func New(db *sql.DB, dialect Dialect, isolation sql.IsolationLevel) *Database {
	return &Database{db: db, dialect: dialect, opts: &sql.TxOptions{Isolation: isolation}, heeds: heeds(db)}
}

// Conns is the pool's limit.
func (d *Database) Conns() int { return d.db.Stats().MaxOpenConnections }

// Class asks the dialect.
func (d *Database) Class(err error) intx.Class {
	class, _ := d.dialect.ClassTx(err)
	return class
}

// Begin is [intx.Database]'s.
func (d *Database) Begin(ctx context.Context, p *semel.ClaimParams, wait time.Duration) (intx.Tx[*sql.Tx], semel.ClaimResult, error) {
	t := &tx{d: d, unlock: func() {}}
	if locker, ok := d.dialect.(Locker); ok {
		unlock, err := locker.LockTx(ctx, p.Key, wait)
		if err != nil {
			return nil, semel.ClaimResult{}, err
		}
		t.unlock = unlock
	}
	if err := t.begin(ctx); err != nil {
		if !t.left {
			t.close(false)
		}
		return nil, semel.ClaimResult{}, err
	}
	res, err := t.claim(ctx, *p, wait)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		_ = t.Rollback() // there is nothing in it
		return nil, res, err
	}
	return t, res, nil
}

// Mark is [intx.Database]'s. The savepoint keeps a failure from the caller's work.
func (d *Database) Mark(ctx context.Context, tx *sql.Tx, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error) {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT "+MarkSavepoint); err != nil {
		return semel.ClaimResult{}, err
	}
	res, err := d.dialect.ClaimTx(ctx, tx, p, wait)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		_, undo := tx.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO SAVEPOINT "+MarkSavepoint)
		err = d.unmarked(err, undo)
	}
	_, release := tx.ExecContext(context.WithoutCancel(ctx), "RELEASE SAVEPOINT "+MarkSavepoint)
	return res, errors.Join(err, release)
}

// unmarked is the failure of a mark. Where the transaction could not be brought back to
// what it was, the key's lock is not all that there is to say: MySQL may be told to roll
// back everything after a wait (innodb_rollback_on_timeout).
func (d *Database) unmarked(err, undo error) error {
	if err != nil && undo != nil && d.Class(err) == intx.ClassLocked {
		return fmt.Errorf("inbox: the database has ended the transaction, roll back: %w (after: %v)", undo, err)
	}
	return errors.Join(err, undo)
}
