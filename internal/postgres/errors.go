package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlcode"
)

// unsent marks an error of a statement that was never sent.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// lost marks an error of a statement that may have been executed before, whatever the
// error says.
type lost struct{ error }

func (l lost) Unwrap() error { return l.error }

// Unsent marks an error of a statement that was never sent, such as that of taking
// a connection out of a pool.
func Unsent(err error) error { return unsent{err} }

// class is what an error means for a statement in a transaction of its own.
type class int

const (
	classLost   class = iota // the connection broke or time was up: it may have been executed
	classUnsent              // it was never sent
	classFailed              // it failed, and nothing was done
	classAgain               // the same, and the same statement again may succeed at once
	classHeld                // the same: somebody holds a row that it needs
	classFull                // the same: no space is left
)

// classOf goes by what an error can do, since no driver is known here.
func classOf(err error) class {
	if _, ok := errors.AsType[lost](err); ok {
		return classLost
	}
	if state := sqlcode.State(err); state != "" {
		return classOfState(state)
	}
	if neverSent(err) {
		return classUnsent
	}
	return classLost
}

// classOfState: an error that the server reports has ended the transaction without
// effect, unless it tells of the end of the connection or of the server.
func classOfState(state string) class {
	switch state {
	case "40001", "40P01": // serialization failure, deadlock
		return classAgain
	case "55P03": // lock_timeout
		return classHeld
	case "53100": // disk full
		return classFull
	case "08001", "08004", "57P03": // not connected, refused, starting up
		return classUnsent
	}
	switch state[:min(2, len(state))] {
	case "08", "57", "58", "XX": // connection, operator, system, internal
		if state == "57014" { // cancelled
			return classFailed
		}
		return classLost
	case "28", "3D": // not admitted, no such database
		return classUnsent
	}
	return classFailed
}

// neverSent does not trust driver.ErrBadConn: lib/pq also returns it when a statement
// was sent and the connection was closed instead of a reply. That database/sql then
// sends the statement again is safe, since the token is the same.
func neverSent(err error) bool {
	if _, ok := errors.AsType[unsent](err); ok {
		return true
	}
	var safe interface{ SafeToRetry() bool }
	if errors.As(err, &safe) && safe.SafeToRetry() {
		return true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	return errors.Is(err, sql.ErrConnDone)
}

// answerable is an answer of the contract, or an error that says all that there is
// to say already.
func answerable(err error) bool {
	if err == nil || errors.Is(err, semel.ErrFenced) || errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, semel.ErrNoReply) {
		return true
	}
	_, format := errors.AsType[*semel.RecordFormatError](err)
	return format
}

// failure is what the caller of a method that writes learns of an error.
func failure(err error) error {
	if answerable(err) {
		return err
	}
	sentinel := semel.ErrStoreUnavailable
	switch classOf(err) {
	case classLost:
		sentinel = semel.ErrNoReply
	case classFull:
		sentinel = semel.ErrStoreFull
	}
	return fmt.Errorf("%w: postgres: %w%s", sentinel, err, fix(err))
}

// unread is the failure of a method that does not write.
func unread(ctx context.Context, err error) error {
	if answerable(err) {
		return err
	}
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return fmt.Errorf("%w: postgres: %w%s", semel.ErrStoreUnavailable, err, fix(err))
}

// fix says what to do about an error of the set-up.
func fix(err error) string {
	switch sqlcode.State(err) {
	case "25006":
		return " (the server is a standby or read-only: connect to the primary, for example with target_session_attrs=read-write)"
	case "42P01", "3F000", "42703":
		return " (the tables are missing or old, or not in the search_path: apply the schema, see semel migrate --print)"
	case "42501":
		return " (GRANT SELECT, INSERT, UPDATE, DELETE on the tables of the store to this role)"
	case "53300":
		return " (the server has no connection left: raise max_connections, or lower the pools)"
	case "26000", "42P05", "08P01":
		return " (a pooler in transaction mode loses prepared statements: set the option Pooler)"
	}
	return ""
}
