package sqlcall

import (
	"context"
	"database/sql"
)

// Execer runs statements: a pool, a connection or a transaction.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Querier runs statements and queries.
type Querier interface {
	Execer
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Row is the current row of a result.
type Row interface {
	Scan(dest ...any) error
}

// Pool hands out connections: *sql.DB, and what embeds it.
type Pool interface {
	Execer
	Conn(ctx context.Context) (*sql.Conn, error)
}

// Kind is what a handle is.
type Kind int

// The kinds of handles.
const (
	Unknown Kind = iota // nothing tells
	IsPool              // each statement is a transaction
	IsConn              // a connection, in a transaction or not
	IsTx                // in a transaction
	IsBare              // says that it is in none
)

// KindOf goes by what a handle can do, so that it also knows handles that embed those
// of database/sql. One with a method InTransaction says it itself.
func KindOf(q Execer) Kind {
	switch h := q.(type) {
	case interface{ InTransaction() bool }:
		if h.InTransaction() {
			return IsTx
		}
		return IsBare
	case interface {
		Commit() error
		Rollback() error
	}:
		return IsTx
	case interface{ Raw(func(any) error) error }:
		return IsConn
	case interface {
		Conn(context.Context) (*sql.Conn, error)
	}:
		return IsPool
	}
	return Unknown
}

// First calls scan for the first row of a query, and reports whether there is one.
func First(ctx context.Context, q Querier, query string, args []any, scan func(Row) error) (found bool, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close() // what it could report, Err does
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := scan(rows); err != nil {
		return true, err
	}
	return true, rows.Close()
}
