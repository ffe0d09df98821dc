package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Within runs work, a statement or two in tx, and bounds for how long they wait for each lock
// of another transaction: at most wait. When that is over, Within returns a
// [*NotAcquiredError] and tx goes on. An error of work comes back as it is. Calls may stand
// within each other.
//
// PostgreSQL aborts a transaction at a failed statement, so work stands behind a savepoint,
// and what it did is undone if it fails; lock_timeout is as before afterwards. MySQL and
// MariaDB count whole seconds, rounded up, and undo the failed statement alone, unless the
// server is set to innodb_rollback_on_timeout: then tx has lost all that it did, and must
// not go on. With [NoWait] it is for work to say NOWAIT; 0 and [semel.Forever] leave the wait
// to the database and the context. SQLite has no row locks: see [ForUpdate].
func Within(ctx context.Context, tx Tx, dialect Dialect, wait time.Duration, work func() error) error {
	if err := inTransaction(tx); err != nil {
		return err
	}
	began := time.Now()
	var err error
	switch dialect {
	case Postgres:
		err = withinPostgres(ctx, tx, wait, work)
	case MySQL:
		err = withinMySQL(ctx, tx, wait, work)
	case SQLite:
		return errNoRowLocks
	default:
		return errNoDialect
	}
	if contended(dialect, err) {
		return &NotAcquiredError{Reason: fmt.Errorf("%w: %w", reasonOf(wait), err), Waited: time.Since(began)}
	}
	return err
}

var errNoRowLocks = errors.New("lock: SQLite has no row locks: BEGIN IMMEDIATE takes the one write lock of the file; begin the transaction so (sqlstore.Connector does), and read without FOR UPDATE")

func reasonOf(wait time.Duration) error {
	if wait < 0 {
		return errTaken
	}
	return ErrTimeout
}

// bounded reports a wait that has an end of its own.
func bounded(wait time.Duration) bool { return wait > 0 && wait != semel.Forever }

// withinPostgres keeps the setting of before in a setting of its own, which ends with the
// transaction as well: in front of those of calls around this one.
func withinPostgres(ctx context.Context, tx Tx, wait time.Duration, work func() error) error {
	if wait >= 0 && !bounded(wait) {
		return work()
	}
	begin, end := "SAVEPOINT semel_lock", "RELEASE SAVEPOINT semel_lock"
	if bounded(wait) {
		begin += "; " + pushPostgres + fmt.Sprintf("; SET LOCAL lock_timeout = %d", max(wait.Milliseconds(), 1))
		end = popPostgres + "; " + end
	}
	if _, err := tx.ExecContext(ctx, begin); err != nil {
		return err
	}
	if err := work(); err != nil {
		return join(err, afterwards(ctx, tx, "ROLLBACK TO SAVEPOINT semel_lock; RELEASE SAVEPOINT semel_lock"))
	}
	return afterwards(ctx, tx, end)
}

const (
	pushPostgres = "SELECT set_config('semel.lock_timeout', concat_ws(' ', current_setting('lock_timeout'), current_setting('semel.lock_timeout', true)), true)"
	popPostgres  = "SELECT set_config('lock_timeout', split_part(current_setting('semel.lock_timeout'), ' ', 1), true); " +
		"SELECT set_config('semel.lock_timeout', regexp_replace(current_setting('semel.lock_timeout'), '^[^ ]* ?', ''), true)"
)

// withinMySQL keeps the setting of before in a variable of the session, in front of those
// of calls around this one. It is restored after a panic as well, since the session
// outlives the transaction.
func withinMySQL(ctx context.Context, tx Tx, wait time.Duration, work func() error) (err error) {
	if !bounded(wait) {
		return work()
	}
	seconds := (wait + time.Second - 1) / time.Second
	_, err = tx.ExecContext(ctx, fmt.Sprintf("%s, SESSION innodb_lock_wait_timeout = %d", pushMySQL, seconds))
	if err != nil {
		return err
	}
	defer func() {
		err = join(err, afterwards(ctx, tx, popMySQL))
	}()
	return work()
}

const (
	pushMySQL = "SET @semel_lock_wait = CONCAT_WS(' ', @@SESSION.innodb_lock_wait_timeout, @semel_lock_wait)"
	popMySQL  = "SET SESSION innodb_lock_wait_timeout = CAST(SUBSTRING_INDEX(@semel_lock_wait, ' ', 1) AS UNSIGNED), " +
		"@semel_lock_wait = NULLIF(SUBSTRING(@semel_lock_wait, LENGTH(SUBSTRING_INDEX(@semel_lock_wait, ' ', 1)) + 2), '')"
)

// tidyTimeout bounds what has to be done even after the context has ended.
const tidyTimeout = 5 * time.Second

// afterwards runs a statement that sets tx right. A connection that does not take it any
// more is of no use anyway, and its transaction fails with it.
func afterwards(ctx context.Context, tx Tx, text string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	_, err := tx.ExecContext(ctx, text)
	return err
}
