package pgxstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel/dup"
)

// Execer is a *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn or pgx.Tx, or what embeds one.
type Execer interface {
	Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
}

// Unique is q for dup.Insert, with all that it promises: inside a transaction a
// duplicate leaves it as usable as before.
//
//	inserted, err := dup.Insert(ctx, pgxstore.Unique(tx), "INSERT INTO orders (number) VALUES ($1)", number)
//
// A handle of another kind says by a method InTransaction() bool whether it is in one;
// else dup.Insert refuses it with dup.ErrHandle.
func Unique(q Execer) dup.Execer {
	if inTransaction(q) == nil {
		return unique{q}
	}
	return telling{unique{q}}
}

type unique struct{ q Execer }

// ExecContext is [dup.Execer]'s.
func (u unique) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	tag, err := u.q.Exec(ctx, statement, args...)
	return driver.RowsAffected(tag.RowsAffected()), err
}

// telling is a handle of a kind that is known.
type telling struct{ unique }

// InTransaction tells package dup whether a duplicate would end a transaction.
func (t telling) InTransaction() bool { return inTransaction(t.q)() }

// inTransaction goes by what the protocol tells: a connection knows its state, and a pool
// is in no transaction. It is nil for a handle that nothing is known of.
func inTransaction(q Execer) func() bool {
	inside := func(c *pgconn.PgConn) bool { return c.TxStatus() != 'I' }
	switch q := q.(type) {
	case interface{ InTransaction() bool }:
		return q.InTransaction
	case pgx.Tx:
		return func() bool { return true }
	case interface{ PgConn() *pgconn.PgConn }:
		return func() bool { return inside(q.PgConn()) }
	case interface{ Conn() *pgx.Conn }:
		return func() bool { return inside(q.Conn().PgConn()) }
	case interface {
		Acquire(ctx context.Context) (*pgxpool.Conn, error)
	}:
		return func() bool { return false }
	}
	return nil
}
