package lock_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/lock"
)

// accounts makes two rows.
func (db *database) accounts(t *testing.T) {
	t.Helper()
	for _, text := range []string{"CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL)", "INSERT INTO account (id, balance) VALUES (1, 10), (2, 20)"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	firstRow  = "SELECT balance FROM account WHERE id = 1"
	anyRow    = "SELECT balance FROM account ORDER BY id LIMIT 1"
	noRow     = "SELECT balance FROM account WHERE id = 3"
	raiseLast = "UPDATE account SET balance = balance + 1 WHERE id = 2"
)

// lockWait is the setting of the session that bounds waits for rows.
func (db *database) lockWait(t *testing.T, tx *sql.Tx) (s string) {
	t.Helper()
	query := "SELECT current_setting('lock_timeout')"
	if db.dialect == lock.MySQL {
		query = "SELECT @@SESSION.innodb_lock_wait_timeout"
	}
	if err := tx.QueryRowContext(t.Context(), query).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A locked row is waited for as long as was said, and not longer; the transaction goes on
// with the settings of before. Field fault: a lock_timeout aborts the transaction around it.
func TestForUpdate(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		db.accounts(t)
		holder, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var balance int
		if err := lock.ForUpdate(t.Context(), holder, lock.RowLock{Dialect: db.dialect}, firstRow).Scan(&balance); err != nil || balance != 10 {
			t.Fatal(balance, err)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		before := db.lockWait(t, tx)
		if _, err := tx.ExecContext(t.Context(), raiseLast); err != nil {
			t.Fatal(err)
		}
		for _, wait := range []time.Duration{lock.NoWait, 300 * time.Millisecond} {
			began := time.Now()
			err := lock.ForUpdate(t.Context(), tx, lock.RowLock{Dialect: db.dialect, Wait: wait}, firstRow).Scan(&balance)
			if !errors.Is(err, lock.ErrNotAcquired) || errors.Is(err, lock.ErrTimeout) != (wait > 0) || time.Since(began) < wait {
				t.Errorf("waiting %v: after %v: %v", wait, time.Since(began), err)
			}
		}
		err = lock.ForUpdate(t.Context(), tx, lock.RowLock{Dialect: db.dialect, SkipLocked: true}, anyRow).Scan(&balance)
		if err != nil || balance != 21 {
			t.Errorf("past the locked row: %d, %v", balance, err)
		}
		for _, how := range []lock.RowLock{{SkipLocked: true}, {Wait: lock.NoWait}, {Wait: time.Second}, {}} {
			how.Dialect = db.dialect
			if err := lock.ForUpdate(t.Context(), tx, how, noRow).Scan(&balance); err != sql.ErrNoRows {
				t.Errorf("no row with %+v: %v", how, err)
			}
		}
		time.AfterFunc(50*time.Millisecond, func() { _ = holder.Commit() })
		if err := lock.ForUpdate(t.Context(), tx, lock.RowLock{Dialect: db.dialect, Wait: 20 * time.Second}, firstRow).Scan(&balance); err != nil || balance != 10 {
			t.Errorf("after the holder's commit: %d, %v", balance, err)
		}
		if after := db.lockWait(t, tx); after != before {
			t.Errorf("the setting was %s and is %s", before, after)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
		if err := db.QueryRowContext(t.Context(), "SELECT balance FROM account WHERE id = 2").Scan(&balance); err != nil || balance != 21 {
			t.Errorf("the transaction around the waits wrote %d, %v", balance, err)
		}
	}, lock.Postgres, lock.MySQL)
}

func TestForUpdateIsCareful(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		db.accounts(t)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		var balance int
		for fix, row := range map[string]*lock.Row{
			"set the Dialect": lock.ForUpdate(t.Context(), tx, lock.RowLock{}, firstRow),
			"leave Wait 0":    lock.ForUpdate(t.Context(), tx, lock.RowLock{Dialect: db.dialect, Wait: 1, SkipLocked: true}, firstRow),
			"no transaction":  lock.ForUpdate(t.Context(), nil, lock.RowLock{Dialect: db.dialect}, firstRow),
			"BEGIN IMMEDIATE": lock.ForUpdate(t.Context(), tx, lock.RowLock{Dialect: lock.SQLite}, firstRow),
		} {
			if err := row.Scan(&balance); err == nil || !strings.Contains(err.Error(), fix) {
				t.Errorf("the error %q does not say %q", err, fix)
			}
		}
	}, all...)
}

// Within is for statements of any driver.
func TestWithin(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		db.accounts(t)
		holder, tx := db.begin(t, sql.LevelDefault), db.begin(t, sql.LevelDefault)
		holder.exec("UPDATE account SET balance = 11 WHERE id = 1")
		tx.exec(raiseLast)
		err := lock.Within(t.Context(), tx.bare(), db.dialect, 100*time.Millisecond, func() error {
			_, err := tx.number(firstRow + " FOR UPDATE")
			return err
		})
		if !errors.Is(err, lock.ErrTimeout) {
			t.Errorf("a locked row: %v", err)
		}
		errWork := errors.New("no more")
		if err := lock.Within(t.Context(), tx.bare(), db.dialect, time.Second, func() error { return errWork }); err != errWork {
			t.Errorf("the error of the work came back as %v", err)
		}
		holder.finish(true)
		err = lock.Within(t.Context(), tx.bare(), db.dialect, time.Second, func() error {
			n, err := tx.number(firstRow + " FOR UPDATE")
			if n != 11 {
				t.Errorf("balance %d", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		tx.finish(true)
	}, lock.Postgres, lock.MySQL)
}

// A bounded wait within another one: each restores the setting that it found, and the
// session goes back to its pool as it came.
func TestNestedWaits(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		db.accounts(t)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		before := db.lockWait(t, tx)
		row := func(wait time.Duration) error {
			var balance int
			return lock.ForUpdate(t.Context(), tx, lock.RowLock{Dialect: db.dialect, Wait: wait}, firstRow).Scan(&balance)
		}
		for range 2 {
			err = lock.Within(t.Context(), tx, db.dialect, 4*time.Second, func() error {
				outer := db.lockWait(t, tx)
				err := lock.Within(t.Context(), tx, db.dialect, 3*time.Second, func() error { return errors.Join(row(2*time.Second), row(lock.NoWait)) })
				if inner := db.lockWait(t, tx); inner != outer || outer == before {
					t.Errorf("the setting around was %s, and is %s", outer, inner)
				}
				return err
			})
			if after := db.lockWait(t, tx); after != before || err != nil {
				t.Errorf("the setting was %s and is %s; %v", before, after, err)
			}
		}
	}, lock.Postgres, lock.MySQL)
}

// A comment at the end of the query does not take in the lock.
func TestForUpdateBehindAComment(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		db.accounts(t)
		var balance int
		for i, query := range []string{firstRow + " -- the first", firstRow + ";\n"} {
			holder, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer holder.Rollback()
			if err := lock.ForUpdate(t.Context(), holder, lock.RowLock{Dialect: db.dialect}, query).Scan(&balance); err != nil {
				t.Fatal(i, err)
			}
			other := db.begin(t, sql.LevelDefault)
			if _, err := other.number(firstRow + " FOR UPDATE NOWAIT"); err == nil {
				t.Errorf("%d: the row is not locked", i)
			}
			other.finish(false)
			if err := holder.Commit(); err != nil {
				t.Error(err)
			}
		}
	}, lock.Postgres, lock.MySQL)
}

// Advisory locks keep others out until the transaction ends, however it does, and leave
// the transaction of a loser as it was.
func TestAdvisory(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		for _, commit := range []bool{true, false} {
			holder, tx := db.begin(t, sql.LevelDefault), db.begin(t, sql.LevelDefault)
			if err := lock.Advisory(t.Context(), holder.bare(), "n", 0); err != nil {
				t.Fatal(err)
			}
			for _, wait := range []time.Duration{lock.NoWait, 100 * time.Millisecond} {
				began := time.Now()
				err := lock.Advisory(t.Context(), tx.bare(), "n", wait)
				if !errors.Is(err, lock.ErrNotAcquired) || time.Since(began) < wait {
					t.Errorf("waiting %v: after %v: %v", wait, time.Since(began), err)
				}
			}
			if err := lock.Advisory(t.Context(), tx.bare(), "other", lock.NoWait); err != nil {
				t.Errorf("another name: %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			answer := make(chan error, 1)
			go func() { answer <- lock.Advisory(ctx, tx.bare(), "n", 0) }()
			holder.finish(commit)
			if err := <-answer; err != nil {
				t.Errorf("after the end of its transaction: %v", err)
			}
			again := db.begin(t, sql.LevelDefault)
			if err := lock.Advisory(t.Context(), again.bare(), "n", lock.NoWait); !errors.Is(err, lock.ErrNotAcquired) {
				t.Errorf("two have it: %v", err)
			}
			tx.finish(commit)
			if err := lock.Advisory(t.Context(), again.bare(), "n", time.Second); err != nil {
				t.Error(err)
			}
			again.finish(commit)
		}
	}, lock.Postgres)
}
