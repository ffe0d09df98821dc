// Command message handles deliveries of a broker that delivers more than once: by the
// business id of the message, in the transaction of what the message brings.
//
//	go run ./examples/message
//
// The broker is a slice here; its adapter is what differs in earnest. It runs on SQLite;
// with DATABASE_URL=postgres://… on PostgreSQL.
package main

import (
	"context"
	"fmt"

	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/sqlstore"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error {
	return scratch.Database(ctx, `
		CREATE TABLE stock (item TEXT PRIMARY KEY, pieces BIGINT NOT NULL CHECK (pieces >= 0));
		INSERT INTO stock VALUES ('tea', 10)`, story)
}

func story(ctx context.Context, store *sqlstore.Store) error {
	box, err := inbox.New(store, &inbox.Options{Retention: stays})
	if err != nil {
		return err
	}
	for _, m := range []message{
		{ID: "ev-1", Item: "tea", Pieces: 3},
		{ID: "ev-1", Item: "tea", Pieces: 3}, // its acknowledgement was lost
		{ID: "ev-2", Item: "tea", Pieces: 2},
		{ID: "ev-1", Item: "tea", Pieces: 4}, // another message under a used id: a fault of the producer
		{ID: "ev-3", Item: "tea", Pieces: 9},
		{ID: "ev-3", Item: "tea", Pieces: 9},
	} {
		fmt.Println(m.ID, m.Pieces, settle(handle(ctx, box, m)))
	}
	var left int64
	err = store.DB().QueryRowContext(ctx, "SELECT pieces FROM stock WHERE item = 'tea'").Scan(&left)
	fmt.Println("left:", left)
	return err
}
