package sqlstore

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel"
)

// statement numbers the prepared statements of a dialect.
type statement int

const (
	stmtBegin statement = iota
	stmtCommit
	stmtRollback
	stmtInsert
	stmtClaim
	stmtSelect
	stmtRenew
	stmtFinishStands
	stmtFinishMoves
	stmtCheckpoint
	stmtResolve
	stmtDelete
	stmtFloor
	stmtRaiseFloor
	stmtPurge
	stmtPurgeLeft
	stmtList
	stmtDurability
	stmtJournal
	statements
)

// dialect is what differs between databases.
type dialect struct {
	name string // as in semel.Guarantees
	dir  string // of its migrations
	sql  [statements]string
	// admit makes a connection the writing one, or refuses it.
	admit func(ctx context.Context, c *sql.Conn) error
	// classify says what an error of the driver means.
	classify func(error) class
	// promise fills in what the settings of the writing connection promise.
	promise func(t *tx) (semel.Guarantees, error)
}

// class is what an error of a driver means for a transaction.
type class int

const (
	classOther  class = iota // a statement failed; others may not
	classBusy                // the database is locked; nothing was done
	classFull                // no space is left; nothing was done
	classBroken              // the connection or the file is of no use any more
)
