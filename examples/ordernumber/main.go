// Command ordernumber places an order once by its number, which is unique in the table:
// the row is the record, and nothing else has to be kept or to expire.
//
//	go run ./examples/ordernumber
//
// It runs on SQLite; with DATABASE_URL=postgres://… on PostgreSQL.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/sqlstore"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error {
	return scratch.Database(ctx, `
		CREATE TABLE orders (number TEXT PRIMARY KEY, total BIGINT NOT NULL CHECK (total > 0));
		CREATE TABLE coupon (code TEXT PRIMARY KEY, number TEXT NOT NULL REFERENCES orders (number))`, story)
}

func story(ctx context.Context, store *sqlstore.Store) error {
	db := store.DB()
	first := order{Number: "A-1", Coupon: "SPRING", Total: 30}
	if err := placeAtOnce(ctx, db, first, 8); err != nil {
		return err
	}
	for _, o := range []order{
		{Number: "A-1", Coupon: "SPRING", Total: 99},
		{Number: "A-2", Coupon: "SPRING", Total: 30}, // a duplicate of a coupon, not of an order
		{Number: "A-3", Coupon: "SUMMER", Total: 0},
		{Number: "A-3", Coupon: "SUMMER", Total: 20},
	} {
		placed, err := place(ctx, db, o)
		fmt.Printf("%s for %d: placed %t, error: %s\n", o.Number, o.Total, placed, reason(err))
	}
	var orders int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM orders").Scan(&orders)
	fmt.Println("orders:", orders)
	return err
}

func placeAtOnce(ctx context.Context, db *sql.DB, o order, callers int) error {
	var placed atomic.Int64
	err := scratch.AtOnce(callers, func(int) error {
		did, err := place(ctx, db, o)
		if did {
			placed.Add(1)
		}
		return err
	})
	fmt.Printf("%d callers, of which %d placed the order\n", callers, placed.Load())
	return err
}
