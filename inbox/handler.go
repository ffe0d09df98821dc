package inbox

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel"
)

// Transact is for [semelhttp.Transactional]. It runs work once for op in a
// transaction, which [TxFrom] finds in its context. State done commits it, with
// the result; with undo only the result. Any other state rolls it back. It returns
// the record of an earlier run, if work did not run. Without an error the verdict
// counts; errors are those of [Do].
func (b *Box) Transact(ctx context.Context, op semel.Op, work func(context.Context) (v semel.Verdict, undo bool)) (*semel.Record, error) {
	return b.flow.Transact(ctx, op, func(ctx context.Context, tx *sql.Tx) (semel.Verdict, bool) {
		return work(context.WithValue(ctx, txKey{}, tx))
	})
}
