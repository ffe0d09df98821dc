package sqltx

import (
	"context"
	"database/sql"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
)

// Dialect is what package inbox needs of a SQL database. The record that ClaimTx
// makes is done from the start, marked as having no result.
type Dialect interface {
	// ClaimTx claims the key of p, a Mark, in tx. It waits for at most wait behind
	// another transaction on the key, then fails with ClassLocked. A failure may leave
	// tx unusable; acquired, all settings of tx are as before.
	ClaimTx(ctx context.Context, tx *sql.Tx, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error)

	// FinishTx puts the result into a record that ClaimTx made. It reports false if
	// there is no such record.
	FinishTx(ctx context.Context, tx *sql.Tx, p *semel.FinishParams) (bool, error)

	// ClassTx says what an error means, and whether it leaves the outcome open when a
	// commit fails with it.
	ClassTx(err error) (class intx.Class, open bool)
}

// Locker is a Dialect whose database has one writer at a time: whoever waits does so
// here, without a connection.
type Locker interface {
	// LockTx waits for the writer's place: as long as the store's own patience, but for
	// wait at most behind a transaction of the same key, then it fails with
	// ClassLocked. unlock gives the place back.
	LockTx(ctx context.Context, key semel.KeyID, wait time.Duration) (unlock func(), err error)
}

// Savepoint is the name of the place in a transaction between claim and work, and
// MarkSavepoint that of the one before a mark. They differ since a mark may be part of the
// work, and MySQL forgets the first of two of one name.
const (
	Savepoint     = "semel_inbox"
	MarkSavepoint = "semel_mark"
)
