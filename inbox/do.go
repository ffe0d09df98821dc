package inbox

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
)

// Do runs fn once for op, in a transaction that commits its effects together with
// its record; every later call for the same key gets the recorded result without
// running fn. A call that meets the transaction of another one waits for it, for
// [semel.Op.Wait], and then replays.
//
// What fn returns decides: nil, and effects and result are committed.
// [semel.Final], and the effects are undone, the failure is recorded. Any other error
// ([semel.Retryable] and [semel.InDoubt] too, since nothing can be in doubt here), a
// panic, runtime.Goexit, or the end of ctx: everything is rolled back, there is no
// record, and the next caller runs. A value that cannot be encoded, or is over
// [Options.MaxResult], is returned to this caller and recorded as a tombstone.
//
// fn may be called again, with a new transaction, after one that lost against
// another one or lost its connection: it must do nothing but use tx, or be safe to
// repeat. It must not commit or roll back; a savepoint of its own is fine. An error
// of the database that it swallows does not become a success.
//
// Errors: what fn returned; [*semel.FinalError], recorded or replayed;
// [*semel.InProgressError], [*semel.MismatchError], [*semel.InDoubtError] (the record is
// an engine's), [*semel.ResultUnavailableError]; [ErrEnded]; a [*semel.StoreError], which
// matches [semel.ErrNoReply] where the commit got no reply and its outcome could not be
// found out: the next call with the key finds it. After every other error that is not a
// FinalError, nothing was committed by this call.
func Do[T any](ctx context.Context, box *Box, op semel.Op, fn func(ctx context.Context, tx *sql.Tx) (T, error)) (semel.Result[T], error) {
	if box == nil || fn == nil {
		return semel.Result[T]{}, errNothingToDo
	}
	return intx.Do(ctx, box.flow, op, func(ctx context.Context, tx *sql.Tx) (T, error) {
		return fn(context.WithValue(ctx, txKey{}, tx), tx)
	})
}

var errNothingToDo = errors.New("inbox: the box or the function is nil; make a box with inbox.New and pass the work")

type txKey struct{}

// TxFrom returns the transaction under whose context the caller works: in the
// function of [Do], and in an HTTP handler of [semelhttp.Transactional].
func TxFrom(ctx context.Context) (*sql.Tx, bool) {
	tx, ok := ctx.Value(txKey{}).(*sql.Tx)
	return tx, ok
}
