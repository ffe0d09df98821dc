package lock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/memstore"
)

func Example() {
	ctx := context.Background()
	store, err := memstore.New(nil) // in production one that processes share
	if err != nil {
		fmt.Println(err)
		return
	}
	locker, err := lock.New(store, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locker.Close(ctx)

	var last semel.Fence
	for range 2 {
		err = lock.Do(ctx, locker, "report/2026", nil, func(ctx context.Context, fence semel.Fence) error {
			fmt.Println("inside, with a larger fence:", fence > last)
			last = fence
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// inside, with a larger fence: true
	// inside, with a larger fence: true
}

func ExampleTryDo() {
	ctx := context.Background()
	store, _ := memstore.New(nil)
	locker, _ := lock.New(store, nil)
	defer locker.Close(ctx)

	held, _ := locker.Acquire(ctx, "nightly", nil)
	err := lock.TryDo(ctx, locker, "nightly", nil, func(context.Context, semel.Fence) error {
		fmt.Println("inside")
		return nil
	})
	fmt.Println(errors.Is(err, lock.ErrNotAcquired))
	fmt.Println(held.Release())
	// Output:
	// true
	// <nil>
}

// A lock that is held across functions.
func ExampleLeased_Acquire() {
	ctx := context.Background()
	store, _ := memstore.New(nil)
	locker, _ := lock.New(store, &lock.Config{Lease: 10 * time.Second})
	defer locker.Close(ctx)

	held, err := locker.Acquire(ctx, "leader", &lock.Options{Wait: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer held.Release()
	fmt.Println("leading:", held.Context().Err() == nil)
	// Output: leading: true
}

func ExampleLocal_Lock() {
	ctx := context.Background()
	rows := lock.NewLocal()
	unlock, err := rows.Lock(ctx, "alice")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer unlock()
	fmt.Println("one at a time for each name")
	// Output: one at a time for each name
}

func ExampleFences_Schema() {
	text, err := lock.Fences{Dialect: lock.Postgres}.Schema()
	fmt.Println(text, err)
	// Output: CREATE TABLE IF NOT EXISTS semel_fence (resource uuid NOT NULL PRIMARY KEY, fence bigint NOT NULL) <nil>
}

// The write is guarded in its own transaction.
func ExampleGuard() {
	var db *sql.DB
	write := func(ctx context.Context, fence semel.Fence) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := lock.Guard(ctx, tx, "report/2026", fence); err != nil {
			return err // *lock.FencedError: a newer holder has been here
		}
		if _, err := tx.ExecContext(ctx, "UPDATE report SET total = total + 1 WHERE year = 2026"); err != nil {
			return err
		}
		return tx.Commit()
	}
	_ = write
}

// Where a row of your own can keep the fence, one statement does both.
func ExampleGuard_column() {
	write := func(ctx context.Context, tx *sql.Tx, fence semel.Fence) error {
		res, err := tx.ExecContext(ctx, "UPDATE report SET total = total + 1, fence = $1 WHERE year = 2026 AND fence <= $1", fence)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, &lock.FencedError{Fence: fence})
		}
		return nil
	}
	_ = write
}

func ExampleForUpdate() {
	withdraw := func(ctx context.Context, tx *sql.Tx, account, amount int) error {
		var balance int
		how := lock.RowLock{Dialect: lock.Postgres, Wait: time.Second}
		err := lock.ForUpdate(ctx, tx, how, "SELECT balance FROM account WHERE id = $1", account).Scan(&balance)
		if err != nil {
			return err // *lock.NotAcquiredError after a second; tx can go on
		}
		_, err = tx.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE id = $2", balance-amount, account)
		return err
	}
	_ = withdraw
}

func ExampleAdvisory() {
	rebuild := func(ctx context.Context, tx *sql.Tx) error {
		if err := lock.Advisory(ctx, tx, "rebuild", lock.NoWait); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "REFRESH MATERIALIZED VIEW totals")
		return err
	}
	_ = rebuild
}
