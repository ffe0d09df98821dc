package scratch

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/semel-go/semel/sqlstore"
)

func openPostgres(ctx context.Context, url string) (store *sqlstore.Store, remove func() error, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, nil, err
	}
	schema := "semel_example_" + strings.ToLower(rand.Text())
	config.RuntimeParams["search_path"] = schema
	db := stdlib.OpenDB(*config)
	drop := func() error { return dropSchema(ctx, db, schema) }
	if _, err = db.ExecContext(ctx, "CREATE SCHEMA "+schema); err == nil {
		store, err = sqlstore.NewPostgres(ctx, db, nil)
	}
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return store, func() error { return errors.Join(store.Close(), drop()) }, nil
}

func dropSchema(ctx context.Context, db *sql.DB, schema string) error {
	_, err := db.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	return errors.Join(err, db.Close())
}
