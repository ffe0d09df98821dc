package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/sqlcode"
	"github.com/semel-go/semel/internal/sqlrecord"
	"github.com/semel-go/semel/internal/sqltx"
)

var _ sqltx.Dialect = (*Store)(nil)

// errSameKey: another transaction holds the record for longer than a claim is to wait.
var errSameKey = errors.New("mysql: another transaction holds the record")

// ClaimTx is [sqltx.Dialect]'s. It makes no snapshot before it has the record, so that
// work under REPEATABLE READ sees what the former holder has committed.
//
// MariaDB waits for whole seconds, or not at all for less than half of one. MySQL
// waits for whole seconds, and for one at least.
func (s *Store) ClaimTx(ctx context.Context, tx *sql.Tx, p *semel.ClaimParams, wait time.Duration) (res semel.ClaimResult, err error) {
	if err := checkClaim(p); err != nil {
		return res, err
	}
	restore, err := s.lockWaitTx(ctx, tx, wait)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	c := &claim{p: *p}
	r := runner{store: s, tx: tx}
	if err := r.insertTx(ctx, c, wait); err != nil {
		return res, err
	}
	for range attempts {
		if c.settled {
			return c.result, nil
		}
		if err := r.claimStep(ctx, c); err != nil {
			return res, err
		}
	}
	return res, errRestless(p.Key)
}

// insertTx inserts the record or locks the one that is there, which it then judges.
func (r runner) insertTx(ctx context.Context, c *claim, wait time.Duration) error {
	s := r.store
	least := s.floor.known() + 1
	sent := time.Now()
	d, err := doneOf(r.tx.ExecContext(ctx, s.dialect.waiting(wait).insertText([]*claim{c}, least)))
	switch {
	case ClassOf(err) == Locked:
		return fmt.Errorf("%w: %w", errSameKey, err)
	case err != nil:
		return err
	}
	return r.inserted(ctx, c, d, least, sent)
}

// seconds is a wait for a lock as the server counts it.
func seconds(wait time.Duration, least int) int {
	return max(least, int(math.Round(wait.Seconds())))
}

// waiting is the dialect with another bound for locks.
func (d dialect) waiting(wait time.Duration) dialect {
	if d.lockWait != "" {
		d.lockWait = lockWaitClause(seconds(wait, 0))
	}
	return d
}

// lockWaitTx bounds the waits of a transaction on a server that can only do so for
// its session. restore undoes that.
func (s *Store) lockWaitTx(ctx context.Context, tx *sql.Tx, wait time.Duration) (restore func() error, err error) {
	want := strconv.Itoa(seconds(wait, 1))
	if s.server.mariadb() || s.server["innodb_lock_wait_timeout"] == want {
		return func() error { return nil }, nil
	}
	_, err = tx.ExecContext(ctx, "SET @semel_lock_wait = @@innodb_lock_wait_timeout, innodb_lock_wait_timeout = "+want)
	return func() error {
		_, err := tx.ExecContext(context.WithoutCancel(ctx), "SET innodb_lock_wait_timeout = @semel_lock_wait")
		return err
	}, err
}

// FinishTx is [sqltx.Dialect]'s. A result that the server does not take must not keep the
// work from being committed: it becomes a tombstone.
func (s *Store) FinishTx(ctx context.Context, tx *sql.Tx, p *semel.FinishParams) (bool, error) {
	r, result := runner{store: s, tx: tx}, p.Result
	if len(result.Data) > s.maxResult {
		result = semel.StoredResult{Kind: semel.ResultTombstone}
	}
	m, d := expiryOf(p.Retention)
	filled, err := r.exec(ctx, stmtFill, p.Key[:], p.Token[:], int64(result.Kind), result.Data, sqlrecord.Half(p.Retention), m, d)
	if err != nil || filled.rows > 0 {
		return err == nil, err
	}
	row, _, err := r.load(ctx, p.Key[:]) // it may hold that result already
	return row != nil && row.OwnedBy(p.Token) && row.State == semel.StateDone, err
}

// ClassTx is [sqltx.Dialect]'s.
func (s *Store) ClassTx(err error) (class intx.Class, open bool) {
	_, _, answered := sqlcode.Number(err)
	c := ClassOf(err)
	open = !answered || c == Unsure
	switch {
	case errors.Is(err, errSameKey):
		return intx.ClassLocked, open
	case c == Conflict, c == Locked:
		return intx.ClassConflict, open
	case answered && c == Unreached, !answered && lost(err):
		return intx.ClassLost, open
	}
	return intx.ClassOther, open
}

// lost reports a failure of the connection.
func lost(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "invalid connection")
}
