package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
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
func (d *dialect) undone(err error) *failure {
	f := &failure{class: d.classOf(err)}
	sentinel := semel.ErrStoreUnavailable
	if f.class == classFull {
		sentinel = semel.ErrStoreFull
	}
	f.err = fmt.Errorf("%w: %s: %w", sentinel, d.name, err)
	return f
}

// uncommitted is the failure of a commit.
func (d *dialect) uncommitted(err error) *failure {
	switch c := d.classOf(err); c {
	case classBusy, classFull:
		return d.undone(err)
	default:
		return &failure{class: classBroken, err: fmt.Errorf("%w: %s: commit: %w", semel.ErrNoReply, d.name, err)}
	}
}

func (d *dialect) classOf(err error) class {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return classBroken
	}
	return d.classify(err)
}

// spoilt reports a failure that one operation of a batch may have brought upon
// the others.
func spoilt(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (f.class == classOther || f.class == classFull)
}

// unbatched translates the combiner's errors into those of the contract.
func unbatched(err error) error {
	switch {
	case errors.Is(err, combiner.ErrLeft):
		return fmt.Errorf("%w: %w", semel.ErrNoReply, err)
	case errors.Is(err, combiner.ErrWithdrawn):
		return fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, err)
	}
	return err
}

// unread is the failure of a read, which has no effect.
func (d *dialect) unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%w: %s: %w", semel.ErrStoreUnavailable, d.name, err)
}
