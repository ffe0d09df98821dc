// Command lockcheck makes a month's report once: it takes a lock, looks whether the report
// is there, and makes it if it is not. A holder who wakes up after his lease is stopped by
// his fence.
//
//	go run ./examples/lockcheck
//
// It runs on SQLite; with DATABASE_URL=postgres://… on PostgreSQL. The lock may lie in any
// other store, such as Redis, and the guard in the database that is written to.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/sqlstore"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error {
	return scratch.Database(ctx, "CREATE TABLE report (month TEXT NOT NULL, pages BIGINT NOT NULL)", story)
}

func story(ctx context.Context, store *sqlstore.Store) error {
	if err := (lock.Fences{}).Create(ctx, store.DB()); err != nil { // in a migration of yours
		return err
	}
	locker, err := lock.New(store, nil)
	if err != nil {
		return err
	}
	return errors.Join(tell(ctx, locker, store.DB()), locker.Close(ctx))
}

func tell(ctx context.Context, locker lock.Locker, db *sql.DB) error {
	var made atomic.Int64
	err := scratch.AtOnce(4, func(int) error {
		did, err := report(ctx, locker, db, "2026-11")
		if did {
			made.Add(1)
		}
		return err
	})
	fmt.Printf("4 workers, of which %d made the report\n", made.Load())
	return errors.Join(err, late(ctx, locker, db))
}

// late is a holder who was paused for longer than his lease: somebody else has had the
// lock and has written meanwhile.
func late(ctx context.Context, locker lock.Locker, db *sql.DB) error {
	var old semel.Fence
	err := lock.Do(ctx, locker, "report/2026-12", nil, func(_ context.Context, fence semel.Fence) error {
		old = fence
		return nil // and here he sleeps
	})
	if err != nil {
		return err
	}
	if _, err := report(ctx, locker, db, "2026-12"); err != nil {
		return err
	}
	_, err = write(ctx, db, "2026-12", old)
	fmt.Println("who comes late is refused:", errors.Is(err, semel.ErrFenced))
	return nil
}
