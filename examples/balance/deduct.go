package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

// Receipt is what a caller gets, and every later one who asks for the same order.
type Receipt struct {
	Order string
	Left  int64 // of the balance
}

var errFunds = &semel.FinalError{Code: "insufficient_funds", Message: "the balance is too low"}

// deduct takes an amount from an account, once for each order.
func deduct(ctx context.Context, box *inbox.Box, account, order string, amount int64) (semel.Result[Receipt], error) {
	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: account, Operation: "deduct"}, order),
		Input: semel.InputString(fmt.Sprint(amount)),
	}
	return inbox.Do(ctx, box, op, func(ctx context.Context, tx *sql.Tx) (Receipt, error) {
		var left int64
		err := tx.QueryRowContext(ctx,
			"UPDATE account SET balance = balance - ? WHERE id = ? AND balance >= ? RETURNING balance",
			amount, account, amount).Scan(&left)
		if errors.Is(err, sql.ErrNoRows) {
			return Receipt{}, semel.Final(errFunds) // recorded: a retry learns the same
		}
		return Receipt{Order: order, Left: left}, err
	})
}
