package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// move takes an order from one state to the next, together with the row that tells of
// it. False and no error: it is there already, so this is a duplicate, and a success.
//
// The wrong way reads the status, decides, and then writes it: two callbacks read
// "pending", and both go on.
func move(ctx context.Context, db *sql.DB, order, from, to string) (moved bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // nothing after a commit
	res, err := tx.ExecContext(ctx, "UPDATE orders SET status = $1 WHERE id = $2 AND status = $3", to, order, from)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, err
	}
	if n == 0 {
		return false, judge(ctx, tx, order, from, to)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO event VALUES ($1, $2)", order, to); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// judge tells a duplicate from a step that the state forbids: no changed row says
// neither.
func judge(ctx context.Context, tx *sql.Tx, order, from, to string) error {
	var now string
	err := tx.QueryRowContext(ctx, "SELECT status FROM orders WHERE id = $1", order).Scan(&now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("there is no order %s", order)
	case err != nil:
		return err
	case now == to:
		return nil
	}
	return fmt.Errorf("order %s is %s, not %s", order, now, from)
}
