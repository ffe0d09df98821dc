// Command balance deducts from an account once, however often it is asked to: by a
// double click, by a retry, by another process. The record of the operation commits
// with the balance, in one *sql.Tx, so that no crash comes between.
//
//	go run ./examples/balance
//
// SQLite needs no server; on PostgreSQL, MySQL and MariaDB the code is the same but for
// the call that opens the store and the placeholders. Command balancepgx is its
// counterpart on pgx.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"

	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/sqlstore"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "semel-balance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	connector, err := sqlstore.Connector(&sqlite.Driver{}, filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	store, err := sqlstore.OpenSQLite(ctx, connector, nil) // makes Semel's tables beside yours
	if err != nil {
		return err
	}
	defer store.Close()
	box, err := inbox.New(store, &inbox.Options{Waiters: 2}) // of three clicks, two wait
	if err != nil {
		return err
	}
	return story(ctx, store.DB(), box)
}

func story(ctx context.Context, db *sql.DB, box *inbox.Box) error {
	_, err := db.ExecContext(ctx, "CREATE TABLE account (id TEXT PRIMARY KEY, balance INTEGER NOT NULL); INSERT INTO account VALUES ('ada', 100)")
	if err != nil {
		return err
	}
	var clicks sync.WaitGroup
	for range 3 { // an impatient customer
		clicks.Go(func() {
			res, err := deduct(ctx, box, "ada", "order-1", 30)
			fmt.Printf("order-1: %d left, error %v\n", res.Value.Left, err)
		})
	}
	clicks.Wait()
	for range 2 { // the second is a replay, also of the refusal
		_, err := deduct(ctx, box, "ada", "order-2", 80)
		fmt.Println("order-2:", err)
	}
	var balance int64
	if err := db.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = 'ada'").Scan(&balance); err != nil {
		return err
	}
	fmt.Println("balance:", balance)
	return nil
}
