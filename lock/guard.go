package lock

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/semel-go/semel"
)

// Guard refuses a stale fence at the resource: with a [*FencedError] if a larger fence was
// ever let through for it, and the caller has to roll back. Otherwise it notes the fence,
// in tx: it counts when tx commits, and until then others with a fence for this resource
// wait for tx. An equal fence passes, since it is the same holder again.
//
// Call it in the transaction that writes, before the first write. resource names what is
// written to, most often as the lock does. The table of fences has to be there: see
// [Fences], whose zero value this is. An error of the database comes back as it is; under
// PostgreSQL's REPEATABLE READ and SERIALIZABLE, and MariaDB's innodb_snapshot_isolation, that
// is a serialization failure where somebody else was let through since the snapshot.
func Guard(ctx context.Context, tx Tx, resource string, fence semel.Fence) error {
	return Fences{}.Guard(ctx, tx, resource, fence)
}

// Fences is a table with the largest fence of each resource, in the database of what is
// guarded. A row takes some 50 bytes and stays for as long as the resource exists: a fence
// that was forgotten stops nobody.
//
// Guarding takes the rights to SELECT, INSERT and UPDATE.
type Fences struct {
	// Dialect is the kind of database. Default: the database is asked, each time.
	Dialect Dialect
	// Table is the name of the table: lower-case letters, digits and underscores, with a
	// schema before it if there has to be one. Default "semel_fence".
	Table string
}

// FencedError tells the holder of a lock that a newer holder has been at the resource. It
// matches [semel.ErrFenced].
type FencedError struct {
	Fence semel.Fence // the stale one
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("lock: fence %d is stale: a newer holder of the lock has been at the resource; roll back", e.Fence)
}

// Unwrap returns semel.ErrFenced.
func (e *FencedError) Unwrap() error { return semel.ErrFenced }

// Guard is [Guard] with this table.
func (f Fences) Guard(ctx context.Context, tx Tx, resource string, fence semel.Fence) error {
	err := errors.Join(
		inTransaction(tx),
		refuse(resource == "", "the resource has no name"),
		refuse(fence <= 0, "fence %d is that of no lock; pass Held.Fence, or what Do gave to the function", fence),
	)
	if err != nil {
		return err
	}
	if f, err = f.settle(ctx, tx); err != nil {
		return err
	}
	passed, err := f.raise(ctx, tx, fenceKey(resource), fence)
	switch {
	case err != nil:
		return fmt.Errorf("lock: guard: %w%s", err, f.fix(err))
	case !passed:
		return &FencedError{Fence: fence}
	}
	return nil
}

// fenceKey is the row of a resource: the same for everybody who names it.
func fenceKey(resource string) semel.KeyID {
	return semel.KeyOf(semel.Scope{Principal: semel.Global, Operation: "semel/fence/1"}, resource).ID()
}

var tableForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$`)

// settle fills what is missing in, and checks it.
func (f Fences) settle(ctx context.Context, tx Tx) (Fences, error) {
	f.Table = cmp.Or(f.Table, "semel_fence")
	if !tableForm.MatchString(f.Table) {
		return f, fmt.Errorf("lock: Table %q is no plain identifier; use lower-case letters, digits and underscores", f.Table)
	}
	var err error
	if f.Dialect == 0 {
		f.Dialect, err = dialectOf(ctx, tx)
	}
	return f, err
}

// raise notes a fence, and reports whether it is none of the past. The literals are
// hexadecimal digits and a number, so that all drivers take one text.
func (f Fences) raise(ctx context.Context, tx Tx, id semel.KeyID, fence semel.Fence) (passed bool, err error) {
	if f.Dialect == MySQL {
		return f.raiseMySQL(ctx, tx, id, fence)
	}
	literal := fmt.Sprintf("x'%x'", id[:])
	if f.Dialect == Postgres {
		literal = fmt.Sprintf("'%x'::uuid", id[:])
	}
	n, err := affected(tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s AS f (resource, fence) VALUES (%s, %d)
		ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence WHERE f.fence <= excluded.fence`, f.Table, literal, fence)))
	return n > 0, err
}

// raiseMySQL locks the row and raises its fence in one statement. Two rows affected mean
// that it rose; else the row tells, and nobody else can change it any more.
func (f Fences) raiseMySQL(ctx context.Context, tx Tx, id semel.KeyID, fence semel.Fence) (passed bool, err error) {
	q, ok := tx.(rowTx)
	if !ok {
		return false, errNoDialect
	}
	n, err := affected(tx.ExecContext(ctx, fmt.Sprintf(
		"INSERT INTO %s (resource, fence) VALUES (x'%x', %[3]d) ON DUPLICATE KEY UPDATE fence = GREATEST(fence, %[3]d)", f.Table, id[:], fence)))
	if err != nil || n == 2 {
		return n == 2, err
	}
	var newest semel.Fence
	err = q.QueryRowContext(ctx, fmt.Sprintf("SELECT fence FROM %s WHERE resource = x'%x' FOR UPDATE", f.Table, id[:])).Scan(&newest)
	return newest <= fence, err
}

func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// fix says what to do about a table that is not there.
func (f Fences) fix(err error) string {
	if stateOf(err) != "42P01" && !strings.Contains(err.Error(), "1146") && !strings.Contains(err.Error(), "no such table") {
		return ""
	}
	return " (make the table with Fences.Create, or with what Fences.Schema returns)"
}

// Schema returns the statement that makes the table, if it is not there. It needs the
// dialect.
func (f Fences) Schema() (string, error) {
	f, err := f.settle(context.Background(), nil)
	if err != nil {
		return "", err
	}
	columns, tail := "resource uuid NOT NULL PRIMARY KEY, fence bigint NOT NULL", ""
	switch f.Dialect {
	case MySQL:
		columns, tail = "resource BINARY(16) NOT NULL PRIMARY KEY, fence BIGINT NOT NULL", " ENGINE = InnoDB"
	case SQLite:
		columns, tail = "resource BLOB NOT NULL PRIMARY KEY, fence INTEGER NOT NULL", " STRICT, WITHOUT ROWID"
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s)%s", f.Table, columns, tail), nil
}

// Create makes the table, if it is not there: once, at start or in a migration, by a role
// that may, on a *sql.DB or in a transaction of its own; any number of processes may do so at
// once. MySQL commits what is under way for it.
func (f Fences) Create(ctx context.Context, db Tx) error {
	f, err := f.settle(ctx, db)
	if err != nil {
		return err
	}
	text, err := f.Schema()
	if err != nil {
		return err
	}
	if f.Dialect == Postgres { // which fails all but one of those who make it at once
		text = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d); ", advisoryKey("semel/fences")) + text
	}
	if _, err = db.ExecContext(ctx, text); err != nil {
		return fmt.Errorf("lock: create the table of fences: %w", err)
	}
	return nil
}
