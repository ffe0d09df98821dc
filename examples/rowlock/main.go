// Command rowlock reads a row, decides, and writes it, while nobody else can: by the
// pessimistic lock of the database, which ends with the transaction.
//
//	DATABASE_URL=postgres://shop@127.0.0.1/shop go run ./examples/rowlock
//
// SQLite has no row locks, and needs none: while one transaction writes, all others wait.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/sqlstore"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error {
	if os.Getenv("DATABASE_URL") == "" {
		return errors.New("set DATABASE_URL to a PostgreSQL server: SQLite has no row locks")
	}
	return scratch.Database(ctx, `
		CREATE TABLE account (id TEXT PRIMARY KEY, balance BIGINT NOT NULL, credit BIGINT NOT NULL);
		INSERT INTO account VALUES ('ada', 100, 20)`, story)
}

func story(ctx context.Context, store *sqlstore.Store) error {
	db := store.DB()
	var paid atomic.Int64
	err := scratch.AtOnce(8, func(int) error {
		err := withdraw(ctx, db, "ada", 30, time.Minute)
		if err == nil {
			paid.Add(1)
		}
		return unless(err, errFunds)
	})
	if err != nil {
		return err
	}
	fmt.Printf("8 withdrawals of 30 at once: %d paid\n", paid.Load())
	return busy(ctx, db)
}

// busy is a row that somebody holds for longer than others want to wait.
func busy(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := read(ctx, tx, "ada", lock.NoWait); err != nil {
		return err
	}
	err = withdraw(ctx, db, "ada", 1, lock.NoWait)
	fmt.Println("told to come later:", errors.Is(err, lock.ErrNotAcquired))
	return unless(err, lock.ErrNotAcquired)
}

func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
