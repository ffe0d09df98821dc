package intx

import (
	"context"
	"errors"
	"time"

	"github.com/semel-go/semel"
)

// Database opens business transactions. X is what work gets of one: *sql.Tx, pgx.Tx.
type Database[X any] interface {
	// Begin opens a transaction and claims the key in it, as a Mark. It waits for at
	// most wait while another transaction holds the key, then fails with
	// ClassLocked. Acquired: tx is open, at its savepoint. With any other answer, or
	// an error, there is no transaction left. Until the transaction has ended it
	// must not depend on ctx, which bounds Begin alone.
	Begin(ctx context.Context, p *semel.ClaimParams, wait time.Duration) (tx Tx[X], res semel.ClaimResult, err error)

	// Mark claims the key in a transaction of the caller, as a Mark, and waits like
	// Begin. After any answer, and after ClassLocked, that transaction is as usable
	// as before.
	Mark(ctx context.Context, tx X, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error)

	// Class says what an error of this database means, wherever it comes from.
	Class(err error) Class

	// Conns is the largest number of connections that the pool opens, 0 for no limit.
	Conns() int
}

// Tx is a transaction that holds the claim. One goroutine uses it at a time.
type Tx[X any] interface {
	// Handle is what work gets.
	Handle() X
	// Undo goes back to the savepoint.
	Undo(ctx context.Context) error
	// Commit writes the result into the record and commits. An error matches
	// [semel.ErrNoReply] if the outcome is unknown, and ErrEnded if the work ended
	// the transaction; after any other one everything was rolled back.
	Commit(ctx context.Context, p *semel.FinishParams) error
	// Rollback ends the transaction without effect. It fails with ErrEnded if the work
	// has ended it, and with any other error if the connection is lost; the database
	// then rolls back by itself.
	Rollback() error
}

// Class is what an error means for a transaction.
type Class int

// The classes of errors.
const (
	ClassOther    Class = iota // the same would happen again
	ClassConflict              // the transaction lost against another one; a fresh one may succeed
	ClassLocked                // another transaction holds the key
	ClassLost                  // the connection is gone, or there is none
)

// ErrEnded is package inbox's.
var ErrEnded = errors.New("inbox: the work ended the transaction itself; leave commit and rollback to the box, and return an error to roll back")
