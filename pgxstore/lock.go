package pgxstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel/lock"
)

// LockTx is tx for package lock: for [lock.Guard], [lock.Advisory] and [lock.Within].
func LockTx(tx pgx.Tx) lock.Tx { return lockTx{tx} }

type lockTx struct{ tx pgx.Tx }

// ExecContext is [lock.Tx]'s.
func (t lockTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return rowCount(tag.RowsAffected()), err
}

// LockDialect spares the server the question.
func (lockTx) LockDialect() lock.Dialect { return lock.Postgres }

// rowCount is the result of a statement.
type rowCount int64

// RowsAffected is [sql.Result]'s.
func (n rowCount) RowsAffected() (int64, error) { return int64(n), nil }

// LastInsertId is [sql.Result]'s; PostgreSQL has none.
func (rowCount) LastInsertId() (int64, error) {
	return 0, errors.New("pgxstore: PostgreSQL tells no last id; use RETURNING")
}
