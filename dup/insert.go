package dup

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel/internal/sqlcall"
)

// Insert executes an INSERT of one row and reports whether it did: false means that a
// row with its key is there, or, where the statement says so itself, that there was
// nothing to insert (ON CONFLICT DO NOTHING, INSERT … SELECT). Everything else is an
// error: a missing parent row, a NULL, a value that is too long. After an error
// inserted is false, and on a pool with an error of the connection nobody knows.
//
// A row that another transaction has inserted and not yet committed is waited for: if
// that transaction is rolled back, this call inserts. Of any number of calls at once,
// exactly one is told true.
//
// In a transaction the insert stands in a savepoint, so that whatever it meets, the
// transaction is as usable as before; without that, PostgreSQL ends it (25P02). A
// transaction is a *sql.Tx, and what embeds it or has its Commit and Rollback; a
// *sql.Conn is asked whether it is in one. On a pool the insert is repeated a few
// times if the engine undid it in favour of another one: MySQL and MariaDB find
// deadlocks among inserts of one key. In a transaction that is for the caller to do,
// with the whole of it: see [Retryable].
//
// Any unique or primary key counts, that of a table that a trigger writes to as well; with
// ON CONFLICT (…) DO NOTHING only the one that it names, and a duplicate of another one is
// an error. See [On] for tables with more than one. A deferred constraint is checked by
// the commit, whose error [Is] then knows. Refused with [ErrStatement]: INSERT IGNORE,
// REPLACE, upserts, RETURNING, several rows.
func Insert(ctx context.Context, q Execer, statement string, args ...any) (inserted bool, err error) {
	return On().Insert(ctx, q, statement, args...)
}

// Constraints are those whose violation means "there already". None means: any.
type Constraints []string

// On names constraints, as [Is] does.
func On(constraints ...string) Constraints { return constraints }

// Is reports a duplicate of these constraints.
func (c Constraints) Is(err error) bool { return Is(err, c...) }

// Insert is like the function, but a duplicate of another constraint is an error. The
// statement cannot be ON CONFLICT DO NOTHING, which does not tell the constraint.
func (c Constraints) Insert(ctx context.Context, q Execer, statement string, args ...any) (inserted bool, err error) {
	i, err := c.insertion(q, statement, args)
	if err != nil {
		return false, err
	}
	out, err := i.run(ctx)
	return out.inserted, err
}

// insertion is a statement that was checked.
type insertion struct {
	q           Execer
	statement   string
	args        []any
	constraints Constraints
	traits
}

func (c Constraints) insertion(q Execer, statement string, args []any) (*insertion, error) {
	says, err := check(statement, len(c) > 0)
	return &insertion{q, statement, args, c, says}, err
}

// outcome is what an insert did.
type outcome struct {
	inserted bool
	met      engine // that of a duplicate, if it was told
}

// run inserts. PostgreSQL may report another key first if the same row is inserted twice
// at the same moment: then the key that the statement names tells at the next try.
func (i *insertion) run(ctx context.Context) (outcome, error) {
	out, err := i.try(ctx)
	if i.chosen && Is(err) {
		return i.try(ctx)
	}
	return out, err
}

func (i *insertion) try(ctx context.Context) (outcome, error) {
	switch sqlcall.KindOf(i.q) {
	case sqlcall.IsTx:
		return savepoint{q: i.q}.around(ctx, func() (outcome, error) { return i.once(ctx) })
	case sqlcall.IsConn:
		return savepoint{q: i.q, perhaps: true}.around(ctx, func() (outcome, error) { return i.once(ctx) })
	case sqlcall.IsBare:
		return i.once(ctx)
	case sqlcall.IsPool:
		return i.alone(ctx)
	}
	return outcome{}, errHandle(i.q)
}

// beatings is how often an insert on a pool may be undone in favour of others.
const beatings = 16

// alone runs the insert as a transaction of its own.
func (i *insertion) alone(ctx context.Context) (out outcome, err error) {
	for range beatings {
		if out, err = i.once(ctx); err == nil || !beaten(err) {
			break
		}
	}
	return out, err
}

func (i *insertion) once(ctx context.Context) (outcome, error) {
	res, doubt, err := sqlcall.Exec(ctx, i.q, i.statement, i.args)
	out, err := i.judge(res, err)
	if err == nil && !out.inserted && doubt {
		return outcome{}, ErrNoReply
	}
	return out, err
}

// judge tells a duplicate from a failure.
func (i *insertion) judge(res sql.Result, err error) (outcome, error) {
	if err != nil {
		if v, ok := Of(err); ok && !i.chosen && v.isOf(i.constraints) {
			return outcome{met: v.engine}, nil
		}
		return outcome{}, err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 && !i.quiet {
		err = ErrNoRow
	}
	return outcome{inserted: n > 0}, err
}
