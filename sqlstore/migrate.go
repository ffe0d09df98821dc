package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed migrations
var migrationFiles embed.FS

// Migration is one numbered step of the schema.
type Migration struct {
	Version int
	Name    string // of its file, such as "0001_record"
	// Compatible is the oldest version whose programs still work after this step.
	Compatible int
	// SQL are its statements, each ended by a semicolon at the end of a line.
	SQL string
}

// Migrations returns the steps that a store of this dialect ("sqlite") with these
// options applies, in order; for reading, or for applying them by other means.
func Migrations(dialect string, opts *Options) ([]Migration, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return migrationsOf(dialect, o.Prefix)
}

func migrationsOf(dir, prefix string) ([]Migration, error) {
	files, err := fs.Glob(migrationFiles, path.Join("migrations", dir, "*.sql"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("sqlstore: there is no dialect %q", dir)
	}
	all := make([]Migration, 0, len(files))
	for _, file := range files {
		m, err := readMigration(file, prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// readMigration reads a file NNNN_name.sql that begins with "-- compatible: N".
func readMigration(file, prefix string) (m Migration, err error) {
	text, err := migrationFiles.ReadFile(file)
	if err != nil {
		return m, err
	}
	m.Name = strings.TrimSuffix(path.Base(file), ".sql")
	number, _, _ := strings.Cut(m.Name, "_")
	head, body, _ := strings.Cut(string(text), "\n")
	m.SQL = strings.ReplaceAll(body, defaultPrefix, prefix)
	var errVersion, errCompatible error
	m.Version, errVersion = strconv.Atoi(number)
	m.Compatible, errCompatible = strconv.Atoi(strings.TrimPrefix(head, "-- compatible: "))
	if err := errors.Join(errVersion, errCompatible); err != nil {
		return m, fmt.Errorf("sqlstore: migration %s: %w", file, err)
	}
	return m, nil
}

// statements splits the step, for drivers that take one statement at a time.
func (m Migration) statements() []string {
	var all []string
	for sql := range strings.SplitSeq(m.SQL, ";\n") {
		if sql = strings.TrimSpace(sql); sql != "" {
			all = append(all, sql)
		}
	}
	return all
}

// migrate brings the schema up to date in one transaction, under the write lock,
// so that of several processes that start at once one does it.
func migrate(ctx context.Context, db *sql.DB, all []Migration, prefix string, now int64) (err error) {
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
func upToDate(ctx context.Context, c *sql.Conn, all []Migration, table string) (bool, error) {
	var exists bool
	err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&exists)
	if err != nil || !exists {
		return false, err
	}
	version, err := schemaVersion(ctx, c, all, table)
	return version >= newest(all), err
}

func migrateLocked(ctx context.Context, c *sql.Conn, all []Migration, table string, now int64) error {
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
		if err := m.apply(ctx, c, table, now); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

func (m Migration) apply(ctx context.Context, c *sql.Conn, table string, now int64) error {
	for _, sql := range m.statements() {
		if _, err := c.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, "INSERT INTO "+table+" (version, compatible, applied_at) VALUES (?, ?, ?)", m.Version, m.Compatible, now)
	return err
}

// schemaVersion reads the version of the schema and refuses one that this
// program is too old for.
func schemaVersion(ctx context.Context, c *sql.Conn, all []Migration, table string) (int, error) {
	var version, compatible sql.NullInt64
	err := c.QueryRowContext(ctx, "SELECT max(version), max(compatible) FROM "+table).Scan(&version, &compatible)
	if err != nil {
		return 0, err
	}
	if known := newest(all); int(compatible.Int64) > known {
		return 0, fmt.Errorf("the schema has version %d and needs a program that knows version %d, this one knows %d; upgrade Semel here", version.Int64, compatible.Int64, known)
	}
	return int(version.Int64), nil
}

func newest(all []Migration) (version int) {
	for _, m := range all {
		version = max(version, m.Version)
	}
	return cmp.Or(version, 1)
}
