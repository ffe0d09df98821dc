// Command status moves an order through its states. The states themselves are the
// guard: an UPDATE that names the state that it leaves changes a row once, whoever asks
// for it how often.
//
//	go run ./examples/status
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
		CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT NOT NULL);
		CREATE TABLE event (order_id TEXT NOT NULL, status TEXT NOT NULL);
		INSERT INTO orders VALUES ('A-1', 'pending')`, story)
}

func story(ctx context.Context, store *sqlstore.Store) error {
	db := store.DB()
	if err := paidAtOnce(ctx, db, "A-1", 8); err != nil {
		return err
	}
	for _, step := range []struct{ from, to string }{
		{"paid", "shipped"}, {"paid", "shipped"}, {"pending", "paid"}, {"pending", "canceled"},
	} {
		moved, err := move(ctx, db, "A-1", step.from, step.to)
		fmt.Printf("%s to %s: moved %t, error %v\n", step.from, step.to, moved, err)
	}
	_, err := move(ctx, db, "A-2", "pending", "paid")
	fmt.Println("another order:", err)
	var events int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM event").Scan(&events)
	fmt.Println("events:", events)
	return err
}

// paidAtOnce is a payment provider that calls back more than once.
func paidAtOnce(ctx context.Context, db *sql.DB, order string, callbacks int) error {
	var paid atomic.Int64
	err := scratch.AtOnce(callbacks, func(int) error {
		moved, err := move(ctx, db, order, "pending", "paid")
		if moved {
			paid.Add(1)
		}
		return err
	})
	fmt.Printf("%d callbacks, of which %d paid the order\n", callbacks, paid.Load())
	return err
}
