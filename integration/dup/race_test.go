package dup

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
)

const callers = 32

// call inserts order number "k" with an id of its own in a place, and commits.
func call(ctx context.Context, t *testing.T, db *databases.DB, inTx bool, id int) (bool, error) {
	t.Helper()
	if !inTx {
		return dup.Insert(ctx, db, db.Text(insert), id, "k", nil, 1)
	}
	for {
		got, err := callInTx(ctx, db, id)
		if !dup.Retryable(err) {
			return got, err
		}
	}
}

func callInTx(ctx context.Context, db *databases.DB, id int) (bool, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	got, err := dup.Insert(ctx, tx, db.Text(insert), id, "k", nil, 1)
	if err != nil {
		return false, errors.Join(err, tx.Rollback())
	}
	return got, tx.Commit()
}

// at runs n calls at once and counts those that are told true.
func at(n int, call func(i int) (bool, error)) (inserted int, errs error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			got, err := call(i)
			mu.Lock()
			defer mu.Unlock()
			if got {
				inserted++
			}
			errs = errors.Join(errs, err)
		})
	}
	close(start)
	all.Wait()
	return inserted, errs
}

// Public tracker: the loser of an insert race is answered 500 and counted as an outage.
func TestOneOfManyInserts(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		for name, inTx := range map[string]bool{"pool": false, "transactions": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				db := db.Engine.Open(t)
				create(t, db)
				for range 4 {
					inserted, err := at(callers, func(i int) (bool, error) { return call(t.Context(), t, db, inTx, i) })
					if inserted != 1 || err != nil {
						t.Errorf("%d of %d were told true, %v; want 1", inserted, callers, err)
					}
					if n := rows(t, db); n != 1 {
						t.Errorf("%d rows, want 1", n)
					}
					db.Must(t, "DELETE FROM orders")
				}
			})
		}
	})
}

// The same row, by the same id: PostgreSQL may report the primary key, though the statement
// names another one, which is there as well.
func TestOneOfManyEqualRows(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		end := " ON CONFLICT (number) DO NOTHING"
		if db.Engine.Dialect == databases.MariaDB {
			end = "" // it has none
		}
		create(t, db)
		for range 16 {
			inserted, err := at(callers, func(int) (bool, error) { return dup.Insert(t.Context(), db, db.Text(insert+end), 1, "k", "a@b", 1) })
			if inserted != 1 || err != nil {
				t.Errorf("%d of %d were told true, %v; want 1", inserted, callers, err)
			}
			db.Must(t, "DELETE FROM orders")
		}
	})
}

// Calls that meet an insert that is not committed wait for its end, and one of them
// inserts if it is rolled back. Public tracker: InnoDB finds deadlocks among those that
// wait for one key.
func TestUncommittedInsert(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		for name, commit := range map[string]bool{"committed": true, "rolled back": false} {
			for where, inTx := range map[string]bool{"pool": false, "transactions": true} {
				t.Run(name+", "+where, func(t *testing.T) {
					t.Parallel()
					db := db.Engine.Open(t)
					create(t, db)
					uncommitted(t, db, commit, inTx)
				})
			}
		}
	})
}

func uncommitted(t *testing.T, db *databases.DB, commit, inTx bool) {
	t.Helper()
	const waiters = 6
	first := db.Begin(t, sql.LevelDefault)
	if got, err := dup.Insert(t.Context(), first, db.Text(insert), 99, "k", nil, 1); !got || err != nil {
		t.Fatalf("the first: %v, %v", got, err)
	}
	ended := make(chan error, 1)
	go func() {
		awaitWaiters(t, db, waiters)
		if commit {
			ended <- first.Commit()
		} else {
			ended <- first.Rollback()
		}
	}()
	inserted, err := at(waiters, func(i int) (bool, error) { return call(t.Context(), t, db, inTx, i) })
	if want := map[bool]int{true: 0, false: 1}[commit]; inserted != want || err != nil {
		t.Errorf("%d were told true, %v; want %d", inserted, err, want)
	}
	if err := <-ended; err != nil {
		t.Errorf("the first: %v", err)
	}
	if n := rows(t, db); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// awaitWaiters waits until so many sessions execute the insert, none of which can end
// before the first does; SQLite does not tell.
func awaitWaiters(t *testing.T, db *databases.DB, n int64) {
	t.Helper()
	query := "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO orders%' AND " +
		"pid IN (SELECT pid FROM pg_locks WHERE relation = 'orders'::regclass)"
	switch db.Engine.Dialect {
	case databases.SQLite:
		return
	case databases.MariaDB:
		query = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'INSERT INTO orders%' AND db = DATABASE()"
	}
	for deadline := time.After(20 * time.Second); db.Number(t, query) < n; {
		select {
		case <-deadline:
			t.Error("the calls do not wait for the transaction")
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}
