package inbox

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel"
)

// Mark records op in tx, a transaction of the caller on the box's database, and
// reports whether it is the first to do so: true, and the mark commits or is rolled
// back with the transaction; false, and another transaction with op has been
// committed. It is for dedup where the caller owns the transaction and wants no
// result.
//
// It waits for a transaction with the same op that is under way, for
// [semel.Op.Wait], and tells [*semel.InProgressError] if it goes on. That, false, and
// [*semel.MismatchError] leave tx as usable as before, by a savepoint.
//
// Under REPEATABLE READ or SERIALIZABLE, PostgreSQL cannot tell of a duplicate that was
// committed after the snapshot of tx: Mark then returns the database's
// serialization failure, as any statement on that row would; roll back and begin
// again. MySQL and MariaDB do tell of it, while the other reads of tx see the
// snapshot. A deadlock ends the whole transaction there.
func Mark(ctx context.Context, box *Box, tx *sql.Tx, op semel.Op) (first bool, err error) {
	if box == nil || tx == nil {
		return false, errNothingToDo
	}
	return box.flow.Mark(ctx, tx, op)
}
