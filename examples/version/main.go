// Command version lets two people edit one page and many workers count on one row,
// without a lock: by a version that each change names and raises.
//
//	go run ./examples/version
//
// It runs on SQLite; with DATABASE_URL=postgres://… on PostgreSQL.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/optimistic"
	"github.com/semel-go/semel/sqlstore"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error {
	return scratch.Database(ctx, `
		CREATE TABLE page (id TEXT PRIMARY KEY, title TEXT NOT NULL, stars BIGINT NOT NULL, version BIGINT NOT NULL);
		INSERT INTO page VALUES ('p-1', 'Tea', 0, 1)`, story)
}

func story(ctx context.Context, store *sqlstore.Store) error {
	db := store.DB()
	// Ada and Bob have opened version 1.
	for _, edit := range []struct{ who, page, title string }{{"ada", "p-1", "Green tea"}, {"bob", "p-1", "Black tea"}, {"bob", "p-2", "Coffee"}} {
		fmt.Printf("%s: %s\n", edit.who, told(rename(ctx, db, edit.page, edit.title, 1)))
	}
	if err := scratch.AtOnce(4, func(int) error { return addStar(ctx, db, "p-1") }); err != nil {
		return err
	}
	return show(ctx, db, "p-1")
}

// told is what an editor sees.
func told(err error) string {
	conflict, ok := errors.AsType[*optimistic.ConflictError](err)
	switch {
	case err == nil:
		return "saved"
	case ok:
		return fmt.Sprintf("somebody changed it meanwhile, it is at version %d: look at both and save again", conflict.Current)
	case errors.Is(err, optimistic.ErrMissing):
		return "there is no such page any more"
	}
	return err.Error()
}

func show(ctx context.Context, db *sql.DB, page string) error {
	var title string
	var stars, version int64
	err := db.QueryRowContext(ctx, "SELECT title, stars, version FROM page WHERE id = $1", page).Scan(&title, &stars, &version)
	fmt.Printf("%s: %d stars, version %d\n", title, stars, version)
	return err
}
