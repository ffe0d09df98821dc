package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel/dup"
)

type order struct {
	Number, Coupon string
	Total          int64
}

var errOther = errors.New("the number is that of another order")

// place inserts an order, with its coupon, once for each number. False and no error: the
// same order is there already.
//
// The wrong way asks whether there is one and then inserts: two callers are told that
// there is none. The other wrong way takes every unique violation for "done already", that
// of a used coupon too.
func place(ctx context.Context, db *sql.DB, o order) (placed bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // nothing after a commit
	total, inserted, err := dup.InsertOrGet(ctx, tx, statements(o), scanTotal)
	switch {
	case err != nil:
		return false, err
	case total != o.Total:
		return false, errOther
	case !inserted:
		return false, nil // as good as placed by this call
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO coupon VALUES ($1, $2)", o.Coupon, o.Number); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

func statements(o order) dup.Statements {
	return dup.Statements{
		Insert:      "INSERT INTO orders VALUES ($1, $2)",
		InsertArgs:  []any{o.Number, o.Total},
		Select:      "SELECT total FROM orders WHERE number = $1",
		SelectArgs:  []any{o.Number},
		Constraints: []string{"orders_pkey", "orders.number"}, // as PostgreSQL and SQLite call it
	}
}

func scanTotal(row dup.Row) (total int64, err error) {
	err = row.Scan(&total)
	return total, err
}

// reason is an error in the words of a shop.
func reason(err error) string {
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, errOther):
		return err.Error()
	case dup.Is(err, "coupon_pkey", "coupon.code"):
		return "the coupon was used"
	}
	return "the database refuses it"
}
