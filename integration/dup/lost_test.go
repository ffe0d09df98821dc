package dup

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
)

// Public tracker: the reply is lost, the client library sends again, the caller takes its
// own row for another one's, and the work runs 0 times.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	databases.EachLost(t, "INSERT INTO orders", func(t *testing.T, l *databases.Lost) {
		create(t, l.DB)
		got, err := dup.Insert(t.Context(), l.Pool, l.Text(insert), 1, "a", nil, 1)
		there := rows(t, l.DB) == 1
		if !got && err == nil {
			t.Error("the first call was told that the row was there")
		}
		if got && !there {
			t.Error("the call was told true, and there is no row")
		}
		if errors.Is(err, dup.ErrNoReply) != l.Resent || l.Resent && !there {
			t.Errorf("%v, row %v; want ErrNoReply: %v", err, there, l.Resent)
		}
		if dup.Retryable(err) {
			t.Errorf("%v is retryable", err)
		}
	})
}

// Connections that the server has closed meanwhile make no difference, where the driver
// notices.
func TestStaleConnections(t *testing.T) {
	t.Parallel()
	for _, e := range databases.Servers() {
		if e.Dialect != databases.MariaDB {
			continue
		}
		db := e.Open(t)
		create(t, db)
		for i, want := range []bool{true, false} {
			pool, proxy := db.BehindProxy(t)
			warm(t, pool, 8)
			proxy.Cut()
			got, err := dup.Insert(t.Context(), pool, insert, i, "a", nil, 1)
			if got != want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
}

// warm opens connections and leaves them to the pool.
func warm(t *testing.T, pool *sql.DB, n int) {
	t.Helper()
	for range n {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
}
