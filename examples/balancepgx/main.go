// Command balancepgx deducts from an account once, however often it is asked to: by a
// double click, by a retry, by another process. The record of the operation commits
// with the balance, in one pgx.Tx, so that no crash comes between.
//
//	DATABASE_URL=postgres://shop@127.0.0.1/shop go run ./examples/balancepgx
//
// It makes the tables of Semel and a table balancepgx, which it takes away at the end.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/pgxstore"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	if url == "" {
		return errors.New("set DATABASE_URL to a PostgreSQL server")
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := pgxstore.New(ctx, pool, nil) // makes Semel's tables beside yours
	if err != nil {
		return err
	}
	defer store.Close()
	box, err := pgxstore.NewBox(store, &inbox.Options{Waiters: 2}) // of three clicks, two wait
	if err != nil {
		return err
	}
	err = story(ctx, pool, box)
	_, dropped := pool.Exec(ctx, "DROP TABLE IF EXISTS balancepgx")
	return errors.Join(err, dropped)
}

func story(ctx context.Context, pool *pgxpool.Pool, box *pgxstore.Box) error {
	_, err := pool.Exec(ctx, "CREATE TABLE balancepgx (id text PRIMARY KEY, balance bigint NOT NULL)")
	if err != nil {
		return err
	}
	ada := "ada-" + rand.Text() // a new account in each run: what was done stays done
	if _, err := pool.Exec(ctx, "INSERT INTO balancepgx VALUES ($1, 100)", ada); err != nil {
		return err
	}
	var clicks sync.WaitGroup
	for range 3 { // an impatient customer
		clicks.Go(func() {
			res, err := deduct(ctx, box, ada, "order-1", 30)
			fmt.Printf("order-1: %d left, error %v\n", res.Value.Left, err)
		})
	}
	clicks.Wait()
	for range 2 { // the second is a replay, also of the refusal
		_, err := deduct(ctx, box, ada, "order-2", 80)
		fmt.Println("order-2:", err)
	}
	var balance int64
	if err := pool.QueryRow(ctx, "SELECT balance FROM balancepgx WHERE id = $1", ada).Scan(&balance); err != nil {
		return err
	}
	fmt.Println("balance:", balance)
	return nil
}
