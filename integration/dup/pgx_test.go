package dup

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
	"github.com/semel-go/semel/pgxstore"
)

// pgx without database/sql: pool, connection and transaction.
func TestPgx(t *testing.T) {
	t.Parallel()
	db := databases.Servers()[0].Open(t)
	create(t, db)
	db.Must(t, "INSERT INTO orders (id, number) VALUES (1, 'a')")
	pool, err := pgxpool.New(t.Context(), db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	id := 10
	inserts := func(name string, q pgxstore.Execer) {
		t.Helper()
		for i, number := range []string{"a", name, name} {
			id++
			got, err := dup.On("orders_number_key").Insert(t.Context(), pgxstore.Unique(q), db.Text(insert), id, number, nil, 1)
			if want := i == 1; got != want || err != nil {
				t.Errorf("%s: %q: %v, %v; want %v", name, number, got, err, want)
			}
		}
		if got, err := dup.Insert(t.Context(), pgxstore.Unique(q), db.Text(insert), 99, "z", nil, 99); got || err == nil || dup.Is(err) {
			t.Errorf("%s: foreign key: %v, %v", name, got, err)
		}
	}
	inserts("pool", pool)
	inserts("conn", conn)
	inserts("raw", conn.Conn())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inserts("tx", tx)
	inserts("conn in tx", conn)
	inserts("raw in tx", conn.Conn())
	inserts("embedded", struct{ pgx.Tx }{tx})
	inserts("says", says{opaque{tx}})
	if _, err := dup.Insert(t.Context(), pgxstore.Unique(opaque{tx}), db.Text(insert), 98, "a", nil, 1); !errors.Is(err, dup.ErrHandle) {
		t.Errorf("a handle that tells nothing: %v; want it refused", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	inserts("embedded pool", struct{ *pgxpool.Pool }{pool})
	if n := rows(t, db); n != 10 {
		t.Errorf("%d rows, want 10", n)
	}
}

// opaque hides what it runs on, and says is one that tells.
type (
	opaque struct{ q pgxstore.Execer }
	says   struct{ opaque }
)

func (o opaque) Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error) {
	return o.q.Exec(ctx, statement, args...)
}

func (says) InTransaction() bool { return true }
