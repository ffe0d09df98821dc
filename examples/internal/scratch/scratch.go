package scratch

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/semel-go/semel/sqlstore"
)

// Main runs story on a new database: a file of SQLite, or a schema of its own on the
// PostgreSQL server that DATABASE_URL names. Both know $1, $2 as placeholders. An error
// ends the process with the code 1.
func Main(story func(context.Context, *sqlstore.Store) error) {
	if err := Run(context.Background(), os.Getenv("DATABASE_URL"), story); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Run is Main for tests: an empty url is SQLite.
func Run(ctx context.Context, url string, story func(context.Context, *sqlstore.Store) error) error {
	open := openSQLite
	if url != "" {
		open = openPostgres
	}
	store, remove, err := open(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(story(ctx, store), remove())
}
