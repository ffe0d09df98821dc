package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
)

// failure is an error of the database, as opposed to an answer of the contract.
// It ends the transaction.
type failure struct {
	class class
	err   error // wraps a sentinel of package semel
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// because adds what ended a wait, unless that is the failure itself.
func (f *failure) because(cause error) *failure {
	if errors.Is(cause, f) {
		return f
	}
	return &failure{class: f.class, err: fmt.Errorf("%w: %w", f.err, cause)}
}

// undone is a failure after which nothing of the transaction remains.
func undone(err error) *failure {
	f := &failure{class: classOf(err)}
	sentinel := semel.ErrStoreUnavailable
	if f.class == classFull {
		sentinel = semel.ErrStoreFull
	}
	f.err = fmt.Errorf("%w: sqlite: %w", sentinel, err)
	return f
}

// uncommitted is the failure of a commit.
func uncommitted(err error) *failure {
	switch c := classOf(err); c {
	case classBusy, classFull:
		return undone(err)
	default:
		return &failure{class: classBroken, err: fmt.Errorf("%w: sqlite: commit: %w", semel.ErrNoReply, err)}
	}
}

func classOf(err error) class {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return classBroken
	}
	return classify(err)
}

// spoilt reports a failure that one operation of a batch may have brought upon
// the others.
func spoilt(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (f.class == classOther || f.class == classFull)
}

// unread is the failure of a read, which has no effect.
func unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%w: sqlite: %w", semel.ErrStoreUnavailable, err)
}
