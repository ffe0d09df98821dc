package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/semel-go/semel/lock"
)

var errFunds = errors.New("the balance is too low")

type account struct{ balance, credit int64 }

// withdraw decides by what it read. The lock makes withdrawals one after the other; that
// one of them is not the retry of another, it cannot tell: see command balance.
//
// The wrong way reads without a lock: two withdrawals read the same balance, and both
// write what they computed from it.
func withdraw(ctx context.Context, db *sql.DB, id string, amount int64, wait time.Duration) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit
	a, err := read(ctx, tx, id, wait)
	if err != nil {
		return err
	}
	if a.balance+a.credit < amount {
		return errFunds
	}
	if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE id = $2", a.balance-amount, id); err != nil {
		return err
	}
	return tx.Commit()
}

// read keeps the row as it is until tx ends. Whoever waits for it holds a connection, so
// the wait has an end.
func read(ctx context.Context, tx *sql.Tx, id string, wait time.Duration) (a account, err error) {
	how := lock.RowLock{Dialect: lock.Postgres, Wait: wait}
	err = lock.ForUpdate(ctx, tx, how, "SELECT balance, credit FROM account WHERE id = $1", id).Scan(&a.balance, &a.credit)
	return a, err
}
