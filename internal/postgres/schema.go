package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/semel-go/semel/internal/sqlrecord"
)

//go:embed migrations
var migrationFiles embed.FS

// Migrations are the steps of the schema.
func Migrations(prefix string) ([]sqlrecord.Migration, error) {
	return sqlrecord.Migrations(migrationFiles, prefix)
}

// SchemaTable is the statement that makes the table of versions.
func SchemaTable(prefix string) string {
	return "CREATE TABLE IF NOT EXISTS " + prefix + "schema (version integer NOT NULL PRIMARY KEY, compatible integer NOT NULL, applied_at bigint NOT NULL)"
}

var errNoSchema = errors.New("the tables are missing or old; run semel migrate, apply what semel migrate --print shows, or leave NoMigrate off")

// migrate brings the schema up to date in one transaction, under a lock that ends
// with it, so that of several processes that start at once one does it. Where there
// is nothing to do, it only reads, so that a role without the right to create
// tables will do.
func migrate(ctx context.Context, db Database, prefix string, only bool) error {
	all, err := Migrations(prefix)
	if err != nil {
		return err
	}
	version, err := versionOf(ctx, db.QueryOnce, all, prefix)
	if err != nil || version >= sqlrecord.Newest(all) {
		return err
	}
	if only {
		return errNoSchema
	}
	return db.Transact(ctx, func(q Querier) error { return migrateLocked(ctx, q, all, prefix) })
}

func migrateLocked(ctx context.Context, q Querier, all []sqlrecord.Migration, prefix string) error {
	lock := "SELECT pg_advisory_xact_lock(hashtextextended($1::text || coalesce(current_schema(), ''), 0))::text"
	if err := execute(ctx, q, lock, "semel migrate "+prefix); err != nil {
		return err
	}
	if err := execute(ctx, q, SchemaTable(prefix)); err != nil {
		return err
	}
	version, err := versionOf(ctx, q.Query, all, prefix)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.Version <= version {
			continue
		}
		if err := apply(ctx, q, m, prefix); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

func apply(ctx context.Context, q Querier, m sqlrecord.Migration, prefix string) error {
	for _, text := range m.Statements() {
		if err := execute(ctx, q, text); err != nil {
			return err
		}
	}
	insert := "INSERT INTO " + prefix + "schema (version, compatible, applied_at) VALUES ($1::integer, $2::integer, " + clock + ")"
	return execute(ctx, q, insert, int64(m.Version), int64(m.Compatible))
}

type queryFunc = func(context.Context, string, []any, func(Row) error) error

// versionOf reads the version of the schema, 0 for none, and refuses one that this
// program is too old for.
func versionOf(ctx context.Context, query queryFunc, all []sqlrecord.Migration, prefix string) (int, error) {
	var exists bool
	if _, err := scalars(ctx, query, "SELECT to_regclass($1::text) IS NOT NULL", []any{prefix + "schema"}, &exists); err != nil || !exists {
		return 0, err
	}
	var version, compatible int
	_, err := scalars(ctx, query, "SELECT coalesce(max(version), 0), coalesce(max(compatible), 0) FROM "+prefix+"schema", nil, &version, &compatible)
	if err != nil {
		return 0, err
	}
	return version, sqlrecord.CheckSchema(all, version, compatible)
}
