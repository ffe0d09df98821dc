package dup

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel/internal/sqlcode"
)

const savepointName = "SAVEPOINT semel_dup"

// undoTimeout bounds what has to be done even if the caller's context has ended.
const undoTimeout = 5 * time.Second

// savepoint is a place in the transaction of q to come back to.
type savepoint struct {
	q Execer
	// perhaps: q is a connection, which may be in no transaction. PostgreSQL then refuses
	// a savepoint, MySQL forgets it at once, and SQLite makes it a transaction of its own.
	perhaps bool
}

// set reports false if there is no transaction that needs it.
func (s savepoint) set(ctx context.Context) (bool, error) {
	_, err := s.q.ExecContext(ctx, savepointName)
	if s.perhaps && sqlcode.State(err) == "25P01" { // no active transaction
		return false, nil
	}
	return err == nil, err
}

// release keeps what was done since; in vain it undoes it.
func (s savepoint) release(ctx context.Context) error {
	err := s.step(ctx, "RELEASE "+savepointName)
	if err != nil {
		_ = s.undo(ctx) // SQLite may refuse to release, and keeps the savepoint
	}
	return err
}

// undo goes back.
func (s savepoint) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := s.step(ctx, "ROLLBACK TO "+savepointName); err != nil {
		return err
	}
	return s.step(ctx, "RELEASE "+savepointName)
}

func (s savepoint) step(ctx context.Context, statement string) error {
	_, err := s.q.ExecContext(ctx, statement)
	if n, _, _ := sqlcode.Number(err); s.perhaps && n == 1305 { // no such savepoint
		return nil
	}
	return err
}

// around runs an insert behind the savepoint, and leaves the transaction as it was
// unless a row was inserted.
func (s savepoint) around(ctx context.Context, insert func() (outcome, error)) (outcome, error) {
	set, err := s.set(ctx)
	if err != nil {
		return outcome{}, err
	}
	out, err := insert()
	switch {
	case !set:
		return out, err
	case err == nil && out.inserted:
		if err := s.release(ctx); err != nil {
			return outcome{}, fmt.Errorf("dup: release of the savepoint: %w", err)
		}
		return out, nil
	}
	if undo := s.undo(ctx); undo != nil {
		return outcome{}, lostTransaction(err, undo)
	}
	return out, err
}

// lostTransaction: the transaction could not be brought back to what it was, so a
// duplicate is not all that there is to say.
func lostTransaction(err, undo error) error {
	if err == nil {
		return fmt.Errorf("dup: the transaction is of no use any more, roll back: %w (after a duplicate)", undo)
	}
	return fmt.Errorf("%w (roll back: %v)", err, undo)
}
