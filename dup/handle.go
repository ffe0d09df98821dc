package dup

import (
	"context"
	"database/sql"
	"fmt"
)

// Execer runs statements: a *sql.DB, *sql.Tx or *sql.Conn, or what embeds one. A handle of
// another kind says whether it is in a transaction, by a method
//
//	InTransaction() bool
//
// or by [WithSavepoint] or [WithoutSavepoint]; else it is refused with [ErrHandle].
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Querier is an Execer that queries too.
type Querier interface {
	Execer
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Row is a row that can be scanned once.
type Row interface {
	Scan(dest ...any) error
}

// WithSavepoint is q for the functions of this package, which take it to be in a
// transaction: an insert stands in a savepoint of its own, so that PostgreSQL's
// transaction survives a duplicate.
func WithSavepoint(q Querier) Querier { return handle{q, true} }

// WithoutSavepoint is q for the functions of this package, which take it to be in no
// transaction. In a transaction of MySQL, MariaDB or SQLite, which survive a failed
// statement by themselves, it saves two round trips; in one of PostgreSQL a duplicate
// ends the transaction.
func WithoutSavepoint(q Querier) Querier { return handle{q, false} }

type handle struct {
	Querier
	inTx bool
}

// InTransaction is what the caller said.
func (h handle) InTransaction() bool { return h.inTx }

// errHandle refuses a handle of a kind that is not known.
func errHandle(q Execer) error {
	return fmt.Errorf("%w: %T; give it a method InTransaction() bool, or wrap it: dup.WithSavepoint(q) for a transaction, dup.WithoutSavepoint(q) for a pool", ErrHandle, q)
}
