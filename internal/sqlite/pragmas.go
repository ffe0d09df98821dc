package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// synchronousFull is the level of PRAGMA synchronous from which on a commit is
// synced.
const synchronousFull = 2

// sqliteConnector sets up every connection and hands out none that is unfit.
type sqliteConnector struct {
	driver.Connector
	busy time.Duration
}

// Connect opens a connection with WAL, synchronous=FULL and a busy timeout.
func (c *sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.setUp(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (c *sqliteConnector) setUp(ctx context.Context, conn driver.Conn) error {
	if _, err := ask(ctx, conn, fmt.Sprintf("PRAGMA busy_timeout = %d", c.busy.Milliseconds())); err != nil {
		return err
	}
	if err := c.setWAL(ctx, conn); err != nil {
		return err
	}
	if _, err := ask(ctx, conn, "PRAGMA synchronous = FULL"); err != nil {
		return err
	}
	return verifyPragmas(func(query string) (string, error) { return ask(ctx, conn, query) })
}

// setWAL switches to WAL. The switch of a new file needs it alone, and does not
// always heed the busy timeout.
func (c *sqliteConnector) setWAL(ctx context.Context, conn driver.Conn) error {
	deadline := time.NewTimer(c.busy)
	defer deadline.Stop()
	for {
		_, err := ask(ctx, conn, "PRAGMA journal_mode = WAL")
		if err == nil || classify(err) != classBusy {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline.C:
			return err
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// admit checks a connection of a pool and makes it the writing one. That one
// waits for the lock by [writer.lock], since SQLite's own wait sleeps for up to
// 100 ms at a time and cannot be ended with the caller's patience in all drivers.
func admit(ctx context.Context, c *sql.Conn) error {
	if err := c.PingContext(ctx); err != nil {
		return err
	}
	if err := verifyPragmas(func(query string) (string, error) { return queryText(ctx, c, query) }); err != nil {
		return err
	}
	_, err := queryText(ctx, c, "PRAGMA busy_timeout = 1")
	return err
}

// verifyPragmas refuses a connection whose commits could be lost, or that does
// not wait for other processes.
func verifyPragmas(ask func(query string) (string, error)) error {
	return errors.Join(
		require(ask, "SELECT sqlite_version()", atLeastVersion, "SQLite %s is too old; use a driver with 3.37 or later"),
		require(ask, "PRAGMA journal_mode", is("wal"), "journal_mode is %s, not wal; use a file on a local disk, with PRAGMA journal_mode=WAL (package memstore keeps records in memory)"),
		require(ask, "PRAGMA synchronous", atLeast(synchronousFull), "synchronous is %s on a connection: commits would be lost with the power; set PRAGMA synchronous=FULL on every connection, or open it with OpenSQLite"),
		require(ask, "PRAGMA busy_timeout", atLeast(1), "busy_timeout is %s on a connection: it would fail while another process writes; set PRAGMA busy_timeout=5000 on every connection, or open it with OpenSQLite"),
	)
}

func require(ask func(string) (string, error), query string, ok func(string) bool, complaint string) error {
	got, err := ask(query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	if !ok(got) {
		return fmt.Errorf(complaint, got)
	}
	return nil
}

func is(want string) func(string) bool {
	return func(got string) bool { return strings.EqualFold(got, want) }
}

func atLeast(least int) func(string) bool {
	return func(got string) bool { n, err := strconv.Atoi(got); return err == nil && n >= least }
}

func atLeastVersion(got string) bool {
	var major, minor int
	_, err := fmt.Sscanf(got, "%d.%d", &major, &minor)
	return err == nil && (major > 3 || major == 3 && minor >= 37)
}

// ask runs a statement on a driver's connection and answers the first column of
// its first row, empty if there is none.
func ask(ctx context.Context, conn driver.Conn, query string) (string, error) {
	stmt, err := conn.Prepare(query)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	rows, err := queryStmt(ctx, stmt)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	switch err := rows.Next(values); {
	case errors.Is(err, io.EOF), err == nil && len(values) == 0:
		return "", nil
	case err != nil:
		return "", err
	}
	if b, ok := values[0].([]byte); ok {
		return string(b), nil
	}
	return fmt.Sprint(values[0]), nil
}

func queryStmt(ctx context.Context, stmt driver.Stmt) (driver.Rows, error) {
	if q, ok := stmt.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, nil)
	}
	//lint:ignore SA1019 the only method that every driver has
	return stmt.Query(nil) //nolint:staticcheck // as above
}
