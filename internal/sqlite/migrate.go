package sqlite

import (
	"context"
	"database/sql"
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

// migrate brings the schema up to date in one transaction, under the write lock,
// so that of several processes that start at once one does it.
func migrate(ctx context.Context, db *sql.DB, all []sqlrecord.Migration, prefix string, now int64) (err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	table := prefix + "schema"
	if done, err := upToDate(ctx, c, all, table); done || err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := migrateLocked(ctx, c, all, table, now); err != nil {
		_, rollback := c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, rollback)
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return err
}

// upToDate looks without a lock whether there is anything to do.
func upToDate(ctx context.Context, c *sql.Conn, all []sqlrecord.Migration, table string) (bool, error) {
	var exists bool
	err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&exists)
	if err != nil || !exists {
		return false, err
	}
	version, err := schemaVersion(ctx, c, all, table)
	return version >= sqlrecord.Newest(all), err
}

func migrateLocked(ctx context.Context, c *sql.Conn, all []sqlrecord.Migration, table string, now int64) error {
	_, err := c.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+table+" (version INTEGER NOT NULL PRIMARY KEY, compatible INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT")
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, c, all, table)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.Version <= version {
			continue
		}
		if err := apply(ctx, m, c, table, now); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

func apply(ctx context.Context, m sqlrecord.Migration, c *sql.Conn, table string, now int64) error {
	for _, sql := range m.Statements() {
		if _, err := c.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, "INSERT INTO "+table+" (version, compatible, applied_at) VALUES (?, ?, ?)", m.Version, m.Compatible, now)
	return err
}

// schemaVersion reads the version of the schema and refuses one that this
// program is too old for.
func schemaVersion(ctx context.Context, c *sql.Conn, all []sqlrecord.Migration, table string) (int, error) {
	var version, compatible sql.NullInt64
	err := c.QueryRowContext(ctx, "SELECT max(version), max(compatible) FROM "+table).Scan(&version, &compatible)
	if err != nil {
		return 0, err
	}
	return int(version.Int64), sqlrecord.CheckSchema(all, int(version.Int64), int(compatible.Int64))
}
