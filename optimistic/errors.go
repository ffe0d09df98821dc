package optimistic

import (
	"errors"
	"fmt"
)

// ErrConflict: the row has another version than the caller has seen. Errors that
// match it are [*ConflictError].
var ErrConflict = errors.New("optimistic: the row was changed by somebody else")

// ErrMissing: there is no such row.
var ErrMissing = errors.New("optimistic: the row does not exist (any more)")

// ErrNoReply: the connection ended in the place of a reply, the statement was sent
// again and met another version. That may be the work of this very call, or another
// one's: read the row.
var ErrNoReply = errors.New("optimistic: a first sending of the statement got no reply, and now the row has another version: it may be of this call; read it to find out")

// ErrSeveral: the UPDATE changed more than one row. Roll back.
var ErrSeveral = errors.New("optimistic: the UPDATE changed more than one row; let its WHERE name the key of one")

var errReturning = errors.New("optimistic: nothing was sent: a result of RETURNING is lost here, and MariaDB then counts no row; leave it out")

// ConflictError tells which version the row has now. Nothing was changed.
type ConflictError struct {
	Seen    int64 // by the caller
	Current int64 // of the row, when it was asked after the failure
}

// Error says what to do.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: it has version %d and not %d; read it again, and decide again", ErrConflict, e.Current, e.Seen)
}

// Is reports [ErrConflict].
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// UnmatchedError: the row has the version that the caller has seen, and still the UPDATE
// changed nothing. Its WHERE asks for something else besides, or its SET does not
// raise the version: MySQL counts only rows that became different.
type UnmatchedError struct {
	Version int64
}

// Error says what to do.
func (e *UnmatchedError) Error() string {
	return fmt.Sprintf("optimistic: the row has version %d as expected, and the UPDATE changed nothing: "+
		"look at the other conditions of its WHERE, and raise the version in its SET", e.Version)
}
