package dup

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
)

// order is what InsertOrGet returns here.
type order struct {
	id     int
	number string
}

func insertOrGet(ctx context.Context, db *databases.DB, q dup.Querier, id int, number string) (order, bool, error) {
	return dup.InsertOrGet(ctx, q, dup.Statements{
		Insert: db.Text(insert), InsertArgs: []any{id, number, nil, 1},
		Select: db.Text("SELECT id, number FROM orders WHERE number = ?"), SelectArgs: []any{number},
		Constraints: []string{"orders_number_key", "orders.number"},
	}, func(row dup.Row) (o order, err error) {
		return o, row.Scan(&o.id, &o.number)
	})
}

func TestInsertOrGet(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, db *databases.DB, p place) {
		db.Must(t, "INSERT INTO orders (id, number) VALUES (7, 'a')")
		q, commit := p.open(t, db)
		for _, c := range []struct {
			id     int
			number string
			want   order
			in     bool
		}{{1, "a", order{7, "a"}, false}, {2, "b", order{2, "b"}, true}, {3, "b", order{2, "b"}, false}} {
			got, in, err := insertOrGet(t.Context(), db, q, c.id, c.number)
			if got != c.want || in != c.in || err != nil {
				t.Errorf("%d, %q: %v, %v, %v; want %v, %v", c.id, c.number, got, in, err, c.want, c.in)
			}
		}
		if _, in, err := insertOrGet(t.Context(), db, q, 7, "z"); in || !dup.Is(err, primary...) {
			t.Errorf("another constraint: %v, %v; want its error", in, err)
		}
		if err := commit(); err != nil {
			t.Errorf("commit: %v", err)
		}
		if n := rows(t, db); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
	})
}

func TestAllCallersGetOneRow(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		create(t, db)
		var mu sync.Mutex
		got := map[order]int{}
		inserted, err := at(callers, func(i int) (bool, error) {
			o, in, err := insertOrGet(t.Context(), db, db, i, "k")
			mu.Lock()
			defer mu.Unlock()
			got[o]++
			return in, err
		})
		if inserted != 1 || err != nil || len(got) != 1 {
			t.Errorf("%d inserted, %v, rows %v; want one", inserted, err, got)
		}
	})
}

// A row that was committed after the snapshot of the transaction.
func TestRowAfterTheSnapshot(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		if db.Engine.Dialect == databases.SQLite {
			return // it refuses to write behind an old snapshot: TestBusy
		}
		create(t, db)
		tx := db.Begin(t, sql.LevelRepeatableRead)
		var n int
		if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM orders").Scan(&n); err != nil {
			t.Fatal(err)
		}
		db.Must(t, "INSERT INTO orders (id, number) VALUES (7, 'a')")
		got, in, err := insertOrGet(t.Context(), db, tx, 1, "a")
		if db.Engine.Dialect == databases.MariaDB {
			if got != (order{7, "a"}) || in || err != nil {
				t.Errorf("%v, %v, %v; want the row", got, in, err)
			}
		} else if unseen, ok := errors.AsType[*dup.UnseenError](err); !ok || in || unseen.Inserted || !dup.Retryable(err) {
			t.Errorf("%v, %v, %v; want unseen, and to begin again", got, in, err)
		}
		if got, err := dup.Insert(t.Context(), tx, db.Text(insert), 2, "b", nil, 1); !got || err != nil {
			t.Errorf("the transaction after it: %v, %v; want it as usable as before", got, err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	})
}
