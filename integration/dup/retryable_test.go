package dup

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
)

// Of two transactions that wait for each other, one is told to begin again.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	for _, e := range databases.Servers() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			db := e.Open(t)
			create(t, db)
			one, other := db.Begin(t, sql.LevelDefault), db.Begin(t, sql.LevelDefault)
			must(t, db, one, 1, "a")
			must(t, db, other, 2, "b")
			first := make(chan error, 1)
			go func() {
				_, err := dup.Insert(context.WithoutCancel(t.Context()), one, db.Text(insert), 3, "b", nil, 1)
				first <- errors.Join(err, one.Rollback())
			}()
			_, err := dup.Insert(t.Context(), other, db.Text(insert), 4, "a", nil, 1)
			err = errors.Join(err, other.Rollback(), <-first)
			if !dup.Retryable(err) || dup.Is(err) {
				t.Errorf("%v; want a deadlock", err)
			}
		})
	}
}

func must(t *testing.T, db *databases.DB, q dup.Querier, id int, number string) {
	t.Helper()
	if got, err := dup.Insert(t.Context(), q, db.Text(insert), id, number, nil, 1); !got || err != nil {
		t.Fatalf("%d, %q: %v, %v", id, number, got, err)
	}
}

// A lock that is not free at once, or in time.
func TestLockIsNotFree(t *testing.T) {
	t.Parallel()
	for _, e := range databases.Servers() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			db := e.Open(t)
			create(t, db)
			must(t, db, db.Begin(t, sql.LevelDefault), 1, "a")
			other := db.Begin(t, sql.LevelDefault)
			impatient := "SET LOCAL lock_timeout = '10ms'"
			if e.Dialect == databases.MariaDB {
				impatient = "SET SESSION innodb_lock_wait_timeout = 1"
			}
			if _, err := other.ExecContext(t.Context(), impatient); err != nil {
				t.Fatal(err)
			}
			got, err := dup.Insert(t.Context(), other, db.Text(insert), 2, "a", nil, 1)
			if got || dup.Is(err) || !dup.Retryable(err) {
				t.Errorf("%v, %v; want a lock timeout", got, err)
			}
			must(t, db, other, 3, "c") // the transaction goes on
			if err := other.Commit(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSerializationFailure(t *testing.T) {
	t.Parallel()
	for _, e := range databases.Servers() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			if e.Dialect == databases.MariaDB {
				return // it has deadlocks instead
			}
			db := e.Open(t)
			create(t, db)
			db.Must(t, "INSERT INTO orders (id, number) VALUES (1, 'a')")
			tx := db.Begin(t, sql.LevelRepeatableRead)
			if _, err := tx.ExecContext(t.Context(), "SELECT * FROM orders"); err != nil {
				t.Fatal(err)
			}
			db.Must(t, "UPDATE orders SET number = 'b'")
			if _, err := tx.ExecContext(t.Context(), "UPDATE orders SET number = 'c'"); !dup.Retryable(err) || dup.Is(err) {
				t.Errorf("%v; want a serialization failure", err)
			}
		})
	}
}

// SQLite is busy: for a connection without patience, and for a transaction that has read
// before another one wrote.
func TestBusy(t *testing.T) {
	t.Parallel()
	for _, e := range databases.All() {
		if e.Dialect != databases.SQLite {
			continue
		}
		db := e.Open(t)
		create(t, db)
		tx := db.Begin(t, sql.LevelDefault)
		if _, err := tx.ExecContext(t.Context(), "SELECT * FROM orders"); err != nil {
			t.Fatal(err)
		}
		db.Must(t, "INSERT INTO orders (id, number) VALUES (1, 'a')")
		if got, err := dup.Insert(t.Context(), tx, insert, 2, "a", nil, 1); got || dup.Is(err) || !dup.Retryable(err) {
			t.Errorf("behind its snapshot: %v, %v; want busy", got, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 0"); err != nil {
			t.Fatal(err)
		}
		must(t, db, db.Begin(t, sql.LevelDefault), 2, "b")
		if got, err := dup.Insert(t.Context(), conn, insert, 3, "b", nil, 1); got || dup.Is(err) || !dup.Retryable(err) {
			t.Errorf("without patience: %v, %v; want busy", got, err)
		}
	}
}
