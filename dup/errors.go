package dup

import (
	"errors"
	"fmt"
)

// ErrNoReply: the connection ended in the place of a reply, the statement was sent again
// and met a row. That may be the row of this very call, or another one's. Read it, with
// something in it that is this call's own, such as a token.
var ErrNoReply = errors.New("dup: a first sending of the statement got no reply, and now the row is there: it may be of this call; read it to find out")

// ErrStatement: the statement is refused, and nothing was sent. The text says why.
var ErrStatement = errors.New("dup: the statement is refused")

// ErrHandle: what the statement was to run on does not tell whether it is in a
// transaction. Nothing was sent.
var ErrHandle = errors.New("dup: the handle does not tell whether it is in a transaction")

// ErrNoRow: the statement succeeded, inserted no row, and is not one that may. A trigger,
// a rule or the schema's own ON CONFLICT took the row, or put it elsewhere.
var ErrNoRow = errors.New("dup: the statement inserted no row and met no duplicate (a trigger, a rule, or ON CONFLICT in the schema?)")

// UnseenError: [InsertOrGet] could not read the row.
type UnseenError struct {
	// Inserted: this call inserted the row, and the query does not find it. It was
	// deleted in between, or the query looks for another row.
	Inserted bool
}

// Error says what to do.
func (e *UnseenError) Error() string {
	if e.Inserted {
		return "dup: the row was inserted, and the query does not find it: it was deleted meanwhile, or the query looks for another one"
	}
	return "dup: a row is in the way of the insert, and the query does not find it: in a transaction whose snapshot is older than the row, " +
		"roll back and begin again; else it comes and goes, or the query looks for another one"
}

func refuse(why string) error { return fmt.Errorf("%w: %s", ErrStatement, why) }
