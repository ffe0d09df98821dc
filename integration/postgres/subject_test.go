package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/storetest"
)

// store is what the tests need of a store of either package.
type store interface {
	semel.Store
	semel.Lister
	semel.Purger
	semel.Checkpointer
	Close() error
}

// prefixes gives each case tables of its own.
var prefixes atomic.Int64

func newPrefix() string { return fmt.Sprintf("case%d_", prefixes.Add(1)) }

// openDB opens a database with a driver of database/sql.
func openDB(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(24)
	db.SetMaxIdleConns(24)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// openPool opens a pool of pgx.
func openPool(t testing.TB, dsn string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 24
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// opener opens a store on the tables with this prefix.
type opener func(ctx context.Context, prefix string) (store, error)

// conform runs the suite, each case on tables of its own; admin reaches past the
// store.
func conform(t *testing.T, admin *sql.DB, open opener) {
	storetest.Run(t, storetest.Harness{New: func(ctx context.Context) (*storetest.Subject, error) {
		return subject(ctx, admin, newPrefix(), open)
	}})
}

func subject(ctx context.Context, admin *sql.DB, prefix string, open opener) (*storetest.Subject, error) {
	s, err := open(ctx, prefix)
	if err != nil {
		return nil, err
	}
	handles := []store{s}
	again := func(ctx context.Context) (semel.Store, error) {
		h, err := open(ctx, prefix)
		if err == nil {
			handles = append(handles, h)
		}
		return h, err
	}
	return &storetest.Subject{
		Store:   s,
		Advance: func(ctx context.Context, d time.Duration) error { return advance(ctx, admin, prefix, d) },
		Reopen:  again,
		// The store asks no clock but the server's, so that any handle is that of a process
		// whose clock is off.
		Skewed: func(ctx context.Context, _ time.Duration) (semel.Store, error) { return again(ctx) },
		SetFormat: func(ctx context.Context, key semel.KeyID, format int) error {
			return setFormat(ctx, admin, prefix, key, format)
		},
		Close: func() (err error) {
			for _, h := range handles {
				err = errors.Join(err, h.Close())
			}
			return errors.Join(err, dropTables(admin, prefix))
		},
	}, nil
}

// advance moves the clock of the server, as far as records can see: all their times
// go back.
func advance(ctx context.Context, admin *sql.DB, prefix string, d time.Duration) error {
	var set strings.Builder
	for _, column := range []string{"lease_until", "expires_at", "started_at", "doubt_since"} {
		set.WriteString(fmt.Sprintf(", %[1]s = CASE WHEN %[1]s IN (0, %[2]d) THEN %[1]s ELSE %[1]s - $1 END", column, int64(math.MaxInt64)))
	}
	_, err := admin.ExecContext(ctx, "UPDATE "+prefix+"record SET "+set.String()[2:], d.Microseconds())
	return err
}

func setFormat(ctx context.Context, admin *sql.DB, prefix string, key semel.KeyID, format int) error {
	res, err := admin.ExecContext(ctx, "UPDATE "+prefix+"record SET format = $1 WHERE key = $2::uuid", format, key.String())
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("%d records were changed", n), err)
	}
	return nil
}

func dropTables(admin *sql.DB, prefix string) error {
	_, err := admin.Exec(fmt.Sprintf("DROP TABLE %[1]srecord, %[1]sfloor, %[1]sschema", prefix))
	return err
}
