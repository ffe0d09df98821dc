package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/pgxstore"
)

// Receipt is what a caller gets, and every later one who asks for the same order.
type Receipt struct {
	Order string
	Left  int64 // of the balance
}

var errFunds = &semel.FinalError{Code: "insufficient_funds", Message: "the balance is too low"}

// deduct takes an amount from an account, once for each order.
func deduct(ctx context.Context, box *pgxstore.Box, account, order string, amount int64) (semel.Result[Receipt], error) {
	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: account, Operation: "deduct"}, order),
		Input: semel.InputString(fmt.Sprint(amount)),
	}
	return pgxstore.Do(ctx, box, op, func(ctx context.Context, tx pgx.Tx) (Receipt, error) {
		var left int64
		err := tx.QueryRow(ctx,
			"UPDATE balancepgx SET balance = balance - $1 WHERE id = $2 AND balance >= $1 RETURNING balance",
			amount, account).Scan(&left)
		if errors.Is(err, pgx.ErrNoRows) {
			return Receipt{}, semel.Final(errFunds) // recorded: a retry learns the same
		}
		return Receipt{Order: order, Left: left}, err
	})
}
