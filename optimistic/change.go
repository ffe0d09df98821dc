package optimistic

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/semel-go/semel/internal/sqlcall"
	"github.com/semel-go/semel/internal/sqlcode"
)

// Querier is a *sql.DB, *sql.Tx or *sql.Conn, or what works like one.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Change is a change of one row that somebody has seen at a version.
type Change struct {
	// Update is an UPDATE that names the row and the version in its WHERE and raises the
	// version in its SET, or a DELETE with that WHERE; without RETURNING.
	Update string
	Args   []any
	// Current selects the version of the row, whatever it is. It is asked only when
	// Update changed nothing.
	Current     string
	CurrentArgs []any
	// Version is the one that the caller has seen, and that Update names.
	Version int64
}

// tries bounds how often a row may be replaced by another one of the same version
// between the two statements.
const tries = 3

// Exec makes the change if the row still has the version. Of any number of calls at
// once with one version, at most one succeeds: the UPDATE itself compares.
//
// Errors: [*ConflictError], the row has another version; [ErrMissing], there is no
// such row; both describe the row after the UPDATE, which had no effect.
// [*UnmatchedError] and [ErrSeveral]: the statements are not as [Change] wants them.
// [ErrNoReply]: nobody knows. Others are the database's, and package dup's Retryable
// knows which of them are about others only.
//
// In a transaction of PostgreSQL under REPEATABLE READ or SERIALIZABLE, a row that
// was changed since the snapshot gives the database's serialization failure (40001) and
// no conflict, and the transaction has to begin again. MySQL and MariaDB compare
// with the row as it is now, though the transaction reads it as it was; "missing" then
// means: not in its snapshot. MariaDB with innodb_snapshot_isolation, the default from 11.6.2
// on, gives its error 1020, which Retryable knows, as PostgreSQL gives its own.
func Exec(ctx context.Context, q Querier, c Change) error {
	if slices.Contains(sqlcall.Words(c.Update), "RETURNING") {
		return errReturning
	}
	for range tries {
		n, doubt, err := c.update(ctx, q)
		if err != nil || n == 1 {
			return err
		}
		if n > 1 {
			return fmt.Errorf("%w (it changed %d)", ErrSeveral, n)
		}
		if doubt {
			return ErrNoReply
		}
		if err := c.explain(ctx, q); err != nil {
			return err
		}
	}
	return &UnmatchedError{Version: c.Version}
}

func (c *Change) update(ctx context.Context, q Querier) (n int64, doubt bool, err error) {
	res, doubt, err := sqlcall.Exec(ctx, q, c.Update, c.Args)
	if err != nil {
		return 0, doubt, err
	}
	n, err = res.RowsAffected()
	return n, doubt, err
}

// explain says why the UPDATE found no row; nil if it should find one now. A
// transaction may see the row as it was, where the UPDATE saw it as it is: so before
// the version is believed to be the expected one, it is asked with a lock.
func (c *Change) explain(ctx context.Context, q Querier) error {
	err := c.compare(ctx, q, c.Current)
	if err != nil || sqlcall.KindOf(q) == sqlcall.IsPool || sqlcall.Locks(c.Current) {
		return err
	}
	err = c.compare(ctx, q, sqlcall.Behind(c.Current, "FOR UPDATE"))
	if _, _, ok := sqlcode.SQLite(err); ok { // has no such words, and needs none: there is one writer
		return nil
	}
	return err
}

func (c *Change) compare(ctx context.Context, q Querier, query string) error {
	var current int64
	found, err := sqlcall.First(ctx, q, query, c.CurrentArgs, func(row sqlcall.Row) error { return row.Scan(&current) })
	switch {
	case err != nil:
		return err
	case !found:
		return ErrMissing
	case current != c.Version:
		return &ConflictError{Seen: c.Version, Current: current}
	}
	return nil
}
