package lock

import (
	"context"
	"database/sql"
	"time"

	"github.com/semel-go/semel/internal/sqlcall"
)

// RowLock says how to lock a row.
type RowLock struct {
	// Dialect is the kind of database. Required.
	Dialect Dialect
	// Wait is for how long to wait for a row that another transaction has locked: [NoWait] not
	// at all; MySQL and MariaDB round up to whole seconds. Default 0: as long as the database
	// and the context allow.
	Wait time.Duration
	// SkipLocked passes over rows that are locked, as the workers of a queue do. A row that is
	// locked is then as good as none: sql.ErrNoRows. Not with Wait. Default false.
	SkipLocked bool
}

// ForUpdate runs query, a SELECT without a locking clause, with FOR UPDATE: the row that
// [Row.Scan] reads stays as it is, to all who lock or change it, until tx ends. It is the
// pessimistic lock where what is guarded is a row: no lease, no fence, nothing to release.
//
// PostgreSQL, MySQL from 8.0 on, and MariaDB (SKIP LOCKED from 10.6 on). SQLite has no row
// locks: a transaction begun with BEGIN IMMEDIATE keeps all other writers out, and ForUpdate
// says so.
func ForUpdate(ctx context.Context, tx *sql.Tx, how RowLock, query string, args ...any) *Row {
	return &Row{ctx: ctx, tx: tx, how: how, query: query, args: args}
}

// Row is the row to be locked.
type Row struct {
	ctx   context.Context
	tx    *sql.Tx
	how   RowLock
	query string
	args  []any
}

// Scan locks the row and copies its columns, as [sql.Row.Scan] does. Errors:
// [sql.ErrNoRows]; a [*NotAcquiredError] after the wait, and tx can go on unless Wait was 0 on
// PostgreSQL; or that of the database, such as a deadlock, which ends tx.
func (r *Row) Scan(dest ...any) error {
	clause := "FOR UPDATE"
	switch {
	case r.how.SkipLocked && r.how.Wait != 0:
		return refuse(true, "SkipLocked waits for nothing; leave Wait 0")
	case r.how.SkipLocked:
		clause += " SKIP LOCKED"
	case r.how.Wait < 0:
		clause += " NOWAIT"
	}
	if r.tx == nil {
		return inTransaction(nil)
	}
	var read error
	err := Within(r.ctx, r.tx, r.how.Dialect, r.how.Wait, func() error {
		read = r.tx.QueryRowContext(r.ctx, sqlcall.Behind(r.query, clause), r.args...).Scan(dest...)
		return read
	})
	if read == sql.ErrNoRows {
		return read
	}
	return err
}
