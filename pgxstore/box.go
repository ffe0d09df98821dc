package pgxstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/internal/intx"
)

// Box is [inbox.Box] on a pool of pgx: it runs operations in transactions that
// commit their effects and their records together. Package inbox explains all of it.
// The claim is sent with BEGIN and the result with COMMIT, so that a transaction
// takes no round trip more than a bare one. All methods may be called concurrently.
type Box struct {
	store *Store
	flow  *intx.Flow[pgx.Tx]
}

// NewBox returns a box on the database of store, whose records it shares. opts may
// be nil. All mistakes in opts are reported at once.
func NewBox(store *Store, opts *inbox.Options) (*Box, error) {
	if store == nil {
		return nil, errors.New("pgxstore: the store is nil; open one first, with pgxstore.New")
	}
	if opts == nil {
		opts = new(inbox.Options)
	}
	db, err := newTransactions(store, opts.Isolation)
	if err != nil {
		return nil, err
	}
	flow, err := intx.New(db, store, intx.Settings(*opts))
	if err != nil {
		return nil, err
	}
	return &Box{store: store, flow: flow}, nil
}

// Store returns the store of the box's records.
func (b *Box) Store() semel.Store { return b.store }

// Defaults returns an operation with the box's settings and neither key nor input:
// for layers that show them.
func (b *Box) Defaults() semel.Op { return b.flow.Defaults() }

// Check reports whether the box takes operations with the settings of op, whatever
// their key and input: for layers that know them at start.
func (b *Box) Check(op semel.Op) error { return b.flow.Check(op) }

// Do is [inbox.Do] with a transaction of pgx: it runs fn once for op, in a
// transaction that commits its effects together with its record. fn must not commit
// or roll back tx, nor send BEGIN or COMMIT over its connection; pseudo nested
// transactions are fine. It may be called again, with a new transaction, after one
// that had no effect.
func Do[T any](ctx context.Context, box *Box, op semel.Op, fn func(ctx context.Context, tx pgx.Tx) (T, error)) (semel.Result[T], error) {
	if box == nil || fn == nil {
		return semel.Result[T]{}, errNothingToDo
	}
	return intx.Do(ctx, box.flow, op, func(ctx context.Context, tx pgx.Tx) (T, error) {
		return fn(context.WithValue(ctx, txKey{}, tx), tx)
	})
}

var errNothingToDo = errors.New("pgxstore: the box, the transaction or the function is nil; make a box with pgxstore.NewBox and pass the work")

// Mark is [inbox.Mark] in a transaction of pgx, which the caller owns: it reports
// whether op is recorded for the first time, and commits or is rolled back with tx.
func Mark(ctx context.Context, box *Box, tx pgx.Tx, op semel.Op) (first bool, err error) {
	if box == nil || tx == nil {
		return false, errNothingToDo
	}
	return box.flow.Mark(ctx, tx, op)
}

// Transact is [inbox.Box.Transact], for [semelhttp.Transactional]; [TxFrom] finds the
// transaction.
func (b *Box) Transact(ctx context.Context, op semel.Op, work func(context.Context) (v semel.Verdict, undo bool)) (*semel.Record, error) {
	return b.flow.Transact(ctx, op, func(ctx context.Context, tx pgx.Tx) (semel.Verdict, bool) {
		return work(context.WithValue(ctx, txKey{}, tx))
	})
}

type txKey struct{}

// TxFrom returns the transaction under whose context the caller works: in the
// function of [Do], and in an HTTP handler of [semelhttp.Transactional].
func TxFrom(ctx context.Context) (pgx.Tx, bool) {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	return tx, ok
}
