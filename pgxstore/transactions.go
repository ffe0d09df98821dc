package pgxstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/postgres"
	"github.com/semel-go/semel/internal/sqltx"
)

// transactions are the business transactions of a pool.
type transactions struct {
	pool *pgxpool.Pool
	text *postgres.InTx
	opts pgx.TxOptions
	// stepwise: a pooler loses the statements that a pipeline would keep prepared.
	stepwise bool
}

var _ intx.Database[pgx.Tx] = (*transactions)(nil)

func newTransactions(s *Store, isolation sql.IsolationLevel) (*transactions, error) {
	level, err := levelOf(isolation)
	return &transactions{pool: s.pool, text: postgres.NewInTx(s.inner), opts: pgx.TxOptions{IsoLevel: level}, stepwise: s.db.mode != 0}, err
}

func levelOf(isolation sql.IsolationLevel) (pgx.TxIsoLevel, error) {
	switch isolation {
	case sql.LevelDefault:
		return "", nil
	case sql.LevelReadCommitted:
		return pgx.ReadCommitted, nil
	case sql.LevelRepeatableRead, sql.LevelSnapshot:
		return pgx.RepeatableRead, nil
	case sql.LevelSerializable:
		return pgx.Serializable, nil
	}
	return "", fmt.Errorf("pgxstore: PostgreSQL has no isolation level %v; use LevelReadCommitted, LevelRepeatableRead or LevelSerializable", isolation)
}

// Conns is the pool's limit.
func (d *transactions) Conns() int { return int(d.pool.Config().MaxConns) }

// Class is [intx.Database]'s.
func (d *transactions) Class(err error) intx.Class {
	class, _ := postgres.ClassInTx(err)
	return class
}

const savepoint = "SAVEPOINT " + sqltx.Savepoint

// Begin is [intx.Database]'s.
func (d *transactions) Begin(ctx context.Context, p *semel.ClaimParams, wait time.Duration) (intx.Tx[pgx.Tx], semel.ClaimResult, error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, semel.ClaimResult{}, postgres.Unsent(err)
	}
	t := &transaction{d: d, conn: conn}
	res, err := t.begin(ctx, p, wait)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		_ = t.Rollback() // there is nothing in it
		return nil, res, err
	}
	return t, res, nil
}

// Mark is [intx.Database]'s. The savepoint keeps a failure from the caller's work.
func (d *transactions) Mark(ctx context.Context, tx pgx.Tx, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error) {
	if _, err := tx.Exec(ctx, "SAVEPOINT "+sqltx.MarkSavepoint); err != nil {
		return semel.ClaimResult{}, err
	}
	res, err := d.text.Claim(ctx, onTx{tx}, wait, p)
	how := "RELEASE SAVEPOINT " + sqltx.MarkSavepoint
	if err != nil || res.Outcome != semel.ClaimAcquired {
		how = "ROLLBACK TO SAVEPOINT " + sqltx.MarkSavepoint + "; RELEASE SAVEPOINT " + sqltx.MarkSavepoint
	}
	_, end := tx.Exec(context.WithoutCancel(ctx), how)
	return res, errors.Join(err, end)
}
