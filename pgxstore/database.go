package pgxstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel/internal/postgres"
)

// database runs statements on a pool.
type database struct {
	pool *pgxpool.Pool
	// mode is how statements are sent; 0 leaves it to the pool's settings.
	mode pgx.QueryExecMode
}

var _ postgres.Database = (*database)(nil)

// Query lets pgx keep the statements prepared, unless the pool is told otherwise.
func (d *database) Query(ctx context.Context, text string, args []any, each func(postgres.Row) error) error {
	return d.query(ctx, d.mode, text, args, each)
}

// QueryOnce keeps nothing prepared.
func (d *database) QueryOnce(ctx context.Context, text string, args []any, each func(postgres.Row) error) error {
	return d.query(ctx, pgx.QueryExecModeExec, text, args, each)
}

// query takes a connection first, so that an error of the statement says that it was
// sent.
func (d *database) query(ctx context.Context, mode pgx.QueryExecMode, text string, args []any, each func(postgres.Row) error) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return postgres.Unsent(err)
	}
	defer conn.Release()
	if mode != 0 {
		args = append([]any{mode}, args...)
	}
	rows, err := conn.Query(ctx, text, args...)
	if err = drain(rows, err, each); err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // a pool that cancels may have cut short the wait for a standby
	}
	return err
}

func (d *database) Transact(ctx context.Context, f func(postgres.Querier) error) error {
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return postgres.Unsent(err)
	}
	if err := f(onTx{tx}); err != nil {
		return errors.Join(err, tx.Rollback(ctx))
	}
	return tx.Commit(ctx)
}

// Close leaves the pool to the caller.
func (d *database) Close() error { return nil }

// onTx runs statements in a transaction.
type onTx struct{ pgx.Tx }

func (t onTx) Query(ctx context.Context, text string, args []any, each func(postgres.Row) error) error {
	rows, err := t.Tx.Query(ctx, text, append([]any{pgx.QueryExecModeExec}, args...)...)
	return drain(rows, err, each)
}

// drain reads all rows of a query.
func drain(rows pgx.Rows, err error, each func(postgres.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
