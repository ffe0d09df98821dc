package lock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/lock"
)

// everywhere runs a test on each kind of store, with a database of its own.
func everywhere(t *testing.T, test func(t *testing.T, b backends.Backend, dsn string)) {
	t.Helper()
	t.Parallel()
	for _, b := range backends.Leased() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			test(t, b, b.Database(t))
		})
	}
}

// locker is one on a store; it is closed at the end of the test.
func locker(t *testing.T, store semel.Store, config lock.Config) *lock.Leased {
	t.Helper()
	config.Poll, config.Logger = 5*time.Millisecond, slog.New(slog.DiscardHandler)
	l, err := lock.New(store, &config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := l.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return l
}

// room notes who is inside, by the view of those who are.
type room struct {
	t *testing.T

	mu     sync.Mutex
	inside int
	fences []semel.Fence // in the order of entry
}

func (r *room) enter(fence semel.Fence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside++; r.inside > 1 {
		r.t.Error("two are inside")
	}
	if n := len(r.fences); n > 0 && r.fences[n-1] >= fence {
		r.t.Errorf("fence %d entered after %d", fence, r.fences[n-1])
	}
	r.fences = append(r.fences, fence)
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside--
}

// The rows that a lock guards.
const (
	makeRows = "CREATE TABLE writes (fence BIGINT NOT NULL)"
	addRow   = "INSERT INTO writes (fence) VALUES (%d)"
	rows     = "SELECT COUNT(*), COALESCE(MAX(fence), 0) FROM writes"
)

// prepareRows makes the tables of guarded writes.
func prepareRows(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), makeRows)
	if err := errors.Join(err, lock.Fences{}.Create(t.Context(), db)); err != nil {
		t.Fatal(err)
	}
}

// guardedWrite is what the holder of a lock does.
func guardedWrite(ctx context.Context, db *sql.DB, fence semel.Fence) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := lock.Guard(ctx, tx, "writes", fence); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(addRow, fence)); err != nil {
		return err
	}
	return tx.Commit()
}

func written(t *testing.T, db *sql.DB) (n int, newest semel.Fence) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), rows).Scan(&n, &newest); err != nil {
		t.Fatal(err)
	}
	return n, newest
}
