package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
	"github.com/semel-go/semel/storetest"
)

func TestSQLiteConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{New: func(ctx context.Context) (*storetest.Subject, error) {
		file, clock := filepath.Join(t.TempDir(), "semel.db"), storetest.NewClock()
		open := func(ctx context.Context) (*sqlstore.Store, error) {
			return sqlstore.OpenSQLite(ctx, connectorTo(t, file), &sqlstore.Options{Now: clock.Now})
		}
		return subject(ctx, clock, open)
	}})
}

// TestSQLiteConformanceBareDB runs the suite on a *sql.DB that the caller opened,
// with table names of his own.
func TestSQLiteConformanceBareDB(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{New: func(ctx context.Context) (*storetest.Subject, error) {
		db, clock := openDB(t, filepath.Join(t.TempDir(), "app.db")), storetest.NewClock()
		open := func(ctx context.Context) (*sqlstore.Store, error) {
			return sqlstore.NewSQLite(ctx, db, &sqlstore.Options{Now: clock.Now, Prefix: "idem_"})
		}
		return subject(ctx, clock, open)
	}})
}

// subject is a store with a second handle on the same file.
func subject(ctx context.Context, clock *storetest.Clock, open func(context.Context) (*sqlstore.Store, error)) (*storetest.Subject, error) {
	store, err := open(ctx)
	if err != nil {
		return nil, err
	}
	handles := []*sqlstore.Store{store}
	return &storetest.Subject{
		Store: store, Advance: clock.Advance,
		Reopen: func(ctx context.Context) (semel.Store, error) {
			s, err := open(ctx)
			if err == nil {
				handles = append(handles, s)
			}
			return s, err
		},
		SetFormat: func(ctx context.Context, key semel.KeyID, format int) error {
			return setFormat(ctx, store.DB(), key, format)
		},
		Close: func() (err error) {
			for _, s := range handles {
				err = errors.Join(err, s.Close())
			}
			return err
		},
	}, nil
}

// setFormat changes the format of a record, whatever the tables are called.
func setFormat(ctx context.Context, db *sql.DB, key semel.KeyID, format int) error {
	var table string
	err := db.QueryRowContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%record'").Scan(&table)
	if err != nil {
		return err
	}
	res, err := db.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET format = ? WHERE key = ?", table), format, key[:])
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("%d records were changed", n), err)
	}
	return nil
}

// openDB opens a database as an application would, fit for a store.
func openDB(t testing.TB, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
