package optimistic

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
	"github.com/semel-go/semel/optimistic"
)

// handles runs a test on all engines, outside of a transaction and inside one.
func handles(t *testing.T, run func(t *testing.T, db *databases.DB, q optimistic.Querier)) {
	t.Helper()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		for name, isolation := range map[string]sql.IsolationLevel{"pool": -1, "transaction": sql.LevelDefault, "read committed": sql.LevelReadCommitted} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				db := db.Engine.Open(t)
				create(t, db)
				if isolation < 0 {
					run(t, db, db)
				} else {
					run(t, db, db.Begin(t, isolation))
				}
			})
		}
	})
}

func TestConflictIsToldFromMissing(t *testing.T) {
	t.Parallel()
	handles(t, func(t *testing.T, db *databases.DB, q optimistic.Querier) {
		ctx := t.Context()
		if err := optimistic.Exec(ctx, q, set(db, counter{1, 0, 1}, 10)); err != nil {
			t.Errorf("the version that it has: %v", err)
		}
		err := optimistic.Exec(ctx, q, set(db, counter{1, 0, 1}, 20))
		if c, ok := errors.AsType[*optimistic.ConflictError](err); !ok || c.Seen != 1 || c.Current != 2 || !errors.Is(err, optimistic.ErrConflict) {
			t.Errorf("an old version: %v; want a conflict with version 2", err)
		}
		if err := optimistic.Exec(ctx, q, set(db, counter{9, 0, 1}, 20)); !errors.Is(err, optimistic.ErrMissing) || errors.Is(err, optimistic.ErrConflict) {
			t.Errorf("no such row: %v", err)
		}
		if got, err := read(ctx, db, q, 1); got != (counter{1, 10, 2}) || err != nil {
			t.Errorf("%+v, %v; want the first change alone", got, err)
		}
		remove := set(db, counter{1, 10, 2}, 0)
		remove.Update, remove.Args = db.Text("DELETE FROM counter WHERE id = ? AND version = ?"), []any{1, 2}
		if err := optimistic.Exec(ctx, q, remove); err != nil {
			t.Errorf("delete: %v", err)
		}
		if err := optimistic.Exec(ctx, q, remove); !errors.Is(err, optimistic.ErrMissing) {
			t.Errorf("delete again: %v", err)
		}
	})
}

// MySQL counts the rows that became different, not those that were found.
func TestStatementsThatDoNotFit(t *testing.T) {
	t.Parallel()
	handles(t, func(t *testing.T, db *databases.DB, q optimistic.Querier) {
		ctx := t.Context()
		same := set(db, counter{1, 0, 1}, 0)
		same.Update, same.Args = db.Text("UPDATE counter SET n = ? WHERE id = ? AND version = ?"), []any{0, 1, 1}
		err := optimistic.Exec(ctx, q, same)
		if u, ok := errors.AsType[*optimistic.UnmatchedError](err); db.Engine.Dialect == databases.MariaDB && (!ok || u.Version != 1) {
			t.Errorf("a change that changes nothing: %v; want unmatched", err)
		} else if db.Engine.Dialect != databases.MariaDB && err != nil {
			t.Errorf("a change that changes nothing: %v", err)
		}
		other := set(db, counter{1, 0, 1}, 5)
		other.Update += " AND n > 100"
		err = optimistic.Exec(ctx, q, other)
		if _, ok := errors.AsType[*optimistic.UnmatchedError](err); !ok || errors.Is(err, optimistic.ErrConflict) {
			t.Errorf("another condition: %v; want unmatched", err)
		}
		all := set(db, counter{1, 0, 1}, 5)
		if _, err := q.ExecContext(ctx, "INSERT INTO counter VALUES (2, 0, 1)"); err != nil {
			t.Fatal(err)
		}
		all.Update, all.Args = db.Text("UPDATE counter SET n = ?, version = version + 1"), []any{5}
		if err := optimistic.Exec(ctx, q, all); !errors.Is(err, optimistic.ErrSeveral) {
			t.Errorf("without a key: %v; want several", err)
		}
	})
}

// A transaction that reads the row as it was before another one changed or deleted it.
func TestOldSnapshot(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		for name, statement := range map[string]string{"changed": "UPDATE counter SET n = 7, version = 2 WHERE id = 1", "deleted": "DELETE FROM counter WHERE id = 1"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				db := db.Engine.Open(t)
				create(t, db)
				tx := db.Begin(t, sql.LevelRepeatableRead)
				seen, err := read(t.Context(), db, tx, 1)
				if err != nil {
					t.Fatal(err)
				}
				db.Must(t, statement)
				err = optimistic.Exec(t.Context(), tx, set(db, seen, seen.n+1))
				if db.Engine.Dialect == databases.MariaDB {
					if want := map[string]error{"changed": optimistic.ErrConflict, "deleted": optimistic.ErrMissing}[name]; !errors.Is(err, want) {
						t.Errorf("%v; want %v", err, want)
					}
				} else if !dup.Retryable(err) {
					t.Errorf("%v; want to begin again", err)
				}
			})
		}
	})
}

// MariaDB from 11.6.2 on refuses to write behind an old snapshot by default.
func TestSnapshotIsolationOfMariaDB(t *testing.T) {
	t.Parallel()
	for _, e := range databases.Servers() {
		if e.Dialect != databases.MariaDB {
			continue
		}
		for _, statement := range []string{"UPDATE counter SET n = 7, version = 2 WHERE id = 1", "DELETE FROM counter WHERE id = 1"} {
			db := e.Open(t)
			create(t, db)
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.ExecContext(t.Context(), "SET SESSION innodb_snapshot_isolation = ON"); err != nil {
				t.Fatal(err)
			}
			tx, err := conn.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			seen, err := read(t.Context(), db, tx, 1)
			if err != nil {
				t.Fatal(err)
			}
			db.Must(t, statement)
			if err := optimistic.Exec(t.Context(), tx, set(db, seen, seen.n+1)); !dup.Retryable(err) {
				t.Errorf("%s: %v; want to begin again", statement, err)
			}
		}
	}
}

// Public tracker: the reply is lost, the client library sends again, and the caller takes
// its own change for another one's.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	databases.EachLost(t, "UPDATE counter", func(t *testing.T, l *databases.Lost) {
		create(t, l.DB)
		err := optimistic.Update(t.Context(), l.Pool, nil, func(ctx context.Context) (optimistic.Change, error) {
			c, err := read(ctx, l.DB, l.Pool, 1)
			return set(l.DB, c, c.n+1), err
		})
		if n := l.Number(t, "SELECT n FROM counter"); n > 1 || err == nil && n != 1 {
			t.Errorf("%d increments (%v)", n, err)
		}
		if errors.Is(err, optimistic.ErrNoReply) != l.Resent {
			t.Errorf("%v; want ErrNoReply: %v", err, l.Resent)
		}
	})
}
