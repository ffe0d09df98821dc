package optimistic

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
	"github.com/semel-go/semel/optimistic"
)

const (
	writers = 32
	each    = 3 // increments that each writer tries
)

// increment is a way to add one to the counter.
type increment func(ctx context.Context, db *databases.DB) error

func onPool(opts *optimistic.Options) increment {
	return func(ctx context.Context, db *databases.DB) error {
		return optimistic.Update(ctx, db, opts, func(ctx context.Context) (optimistic.Change, error) {
			c, err := read(ctx, db, db, 1)
			return set(db, c, c.n+1), err
		})
	}
}

func inTransaction(isolation sql.IsolationLevel, opts *optimistic.Options) increment {
	return func(ctx context.Context, db *databases.DB) error {
		return optimistic.Retry(ctx, opts, func(ctx context.Context) error {
			tx, err := db.BeginTx(ctx, db.Isolation(isolation))
			if err != nil {
				return err
			}
			defer tx.Rollback()
			c, err := read(ctx, db, tx, 1)
			if err != nil {
				return err
			}
			if err := optimistic.Exec(ctx, tx, set(db, c, c.n+1)); err != nil {
				return err
			}
			return tx.Commit()
		})
	}
}

// Every success is an increment, and every increment a success: no update is lost, and
// none is made twice.
func TestSumOfIncrementsIsSuccesses(t *testing.T) {
	t.Parallel()
	patient := &optimistic.Options{Attempts: 10000, Pause: time.Millisecond, MaxPause: 20 * time.Millisecond}
	impatient := &optimistic.Options{Attempts: 3, Pause: time.Millisecond}
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		for _, c := range []struct {
			name string
			add  increment
			all  bool // must succeed
		}{
			{"pool, patient", onPool(patient), true},
			{"pool, impatient", onPool(impatient), false},
			{"read committed", inTransaction(sql.LevelReadCommitted, patient), true},
			{"repeatable read", inTransaction(sql.LevelRepeatableRead, patient), true},
			{"serializable", inTransaction(sql.LevelSerializable, impatient), false},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				db := db.Engine.Open(t)
				create(t, db)
				successes := compete(t, db, c.add, c.all)
				n, version := db.Number(t, "SELECT n FROM counter"), db.Number(t, "SELECT version FROM counter")
				if n != successes || version != successes+1 || successes == 0 {
					t.Errorf("%d increments, version %d; want %d and %d", n, version, successes, successes+1)
				}
			})
		}
	})
}

// compete lets the writers loose and counts those that succeeded.
func compete(t *testing.T, db *databases.DB, add increment, all bool) int64 {
	t.Helper()
	var successes atomic.Int64
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for range each {
				err := add(t.Context(), db)
				if err == nil {
					successes.Add(1)
				} else if all || !contended(err) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	running.Wait()
	return successes.Load()
}

// contended reports an error that is about the other writers only.
func contended(err error) bool { return errors.Is(err, optimistic.ErrConflict) || dup.Retryable(err) }
