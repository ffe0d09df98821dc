package optimistic

import (
	"context"
	"testing"

	"github.com/semel-go/semel/integration/internal/databases"
	"github.com/semel-go/semel/optimistic"
)

// create makes a row: counter 1, with value 0 and version 1.
func create(t *testing.T, db *databases.DB) {
	t.Helper()
	db.Must(t, "CREATE TABLE counter (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, version BIGINT NOT NULL)", "INSERT INTO counter VALUES (1, 0, 1)")
}

// counter is a row as somebody has seen it.
type counter struct{ id, n, version int64 }

func read(ctx context.Context, db *databases.DB, q optimistic.Querier, id int64) (counter, error) {
	c := counter{id: id}
	rows, err := q.QueryContext(ctx, db.Text("SELECT n, version FROM counter WHERE id = ?"), id)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	if !rows.Next() {
		return c, optimistic.ErrMissing
	}
	if err := rows.Scan(&c.n, &c.version); err != nil {
		return c, err
	}
	return c, rows.Err()
}

// set is the change of a counter, as it was seen, to n.
func set(db *databases.DB, seen counter, n int64) optimistic.Change {
	return optimistic.Change{
		Update:  db.Text("UPDATE counter SET n = ?, version = version + 1 WHERE id = ? AND version = ?"),
		Args:    []any{n, seen.id, seen.version},
		Current: db.Text("SELECT version FROM counter WHERE id = ?"), CurrentArgs: []any{seen.id},
		Version: seen.version,
	}
}
