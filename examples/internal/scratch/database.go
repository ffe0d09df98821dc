package scratch

import (
	"context"
	"errors"
	"os"

	"github.com/semel-go/semel/sqlstore"
)

// Database runs story on a new database: a file of SQLite, or a schema of its own on the
// PostgreSQL server that DATABASE_URL names. Both know $1, $2 as placeholders. The
// statements of schema make the tables.
func Database(ctx context.Context, schema string, story func(context.Context, *sqlstore.Store) error) error {
	url, open := os.Getenv("DATABASE_URL"), openSQLite
	if url != "" {
		open = openPostgres
	}
	store, remove, err := open(ctx, url)
	if err != nil {
		return err
	}
	if _, err = store.DB().ExecContext(ctx, schema); err == nil {
		err = story(ctx, store)
	}
	return errors.Join(err, remove())
}
