package pgxstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/semel-go/semel/dup"
)

// Execer is a *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn or pgx.Tx.
type Execer interface {
	Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
}

// Unique is q for dup.Insert, with all that it promises: inside a transaction a
// duplicate leaves it as usable as before.
//
//	inserted, err := dup.Insert(ctx, pgxstore.Unique(tx), "INSERT INTO orders (number) VALUES ($1)", number)
func Unique(q Execer) dup.Execer { return unique{q} }

type unique struct{ q Execer }

// ExecContext is [dup.Execer]'s.
func (u unique) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	tag, err := u.q.Exec(ctx, statement, args...)
	return driver.RowsAffected(tag.RowsAffected()), err
}

// InTransaction tells package dup what the protocol tells: a connection knows its state,
// and a pool is in none.
func (u unique) InTransaction() bool {
	switch q := u.q.(type) {
	case pgx.Tx:
		return true
	case interface{ PgConn() *pgconn.PgConn }:
		return q.PgConn().TxStatus() != 'I'
	case interface{ Conn() *pgx.Conn }:
		return q.Conn().PgConn().TxStatus() != 'I'
	}
	return false
}
