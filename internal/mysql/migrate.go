package mysql

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel/internal/sqlcode"
	"github.com/semel-go/semel/internal/sqlrecord"
)

//go:embed migrations
var migrationFiles embed.FS

// Migrations are the steps of the schema.
func Migrations(prefix string) ([]sqlrecord.Migration, error) {
	return sqlrecord.Migrations(migrationFiles, prefix)
}

// schema brings the schema up to date, or sees that it is.
func (s *Store) schema(ctx context.Context, o Options) error {
	all, err := Migrations(o.Prefix)
	if err != nil {
		return err
	}
	m := migrator{all: all, table: o.Prefix + "schema"}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	defer conn.Close()
	current, err := m.current(ctx, conn)
	switch {
	case err != nil:
		return fmt.Errorf("sqlstore: %w", err)
	case current:
	case o.NoMigrate:
		return fmt.Errorf("sqlstore: the schema is missing or old, and migration is off; run semel migrate, or apply what semel migrate --print shows for mysql, up to version %d", sqlrecord.Newest(all))
	default:
		if err := m.migrate(ctx, conn); err != nil {
			return fmt.Errorf("sqlstore: migrate: %w", err)
		}
	}
	return checkEngine(ctx, conn, o.Prefix+"record")
}

type migrator struct {
	all   []sqlrecord.Migration
	table string
}

// current looks whether there is nothing to do.
func (m migrator) current(ctx context.Context, c *sql.Conn) (bool, error) {
	version, err := m.version(ctx, c)
	if numberIs(err, errNoSuchTable) {
		return false, nil
	}
	return version >= sqlrecord.Newest(m.all), err
}

const errNoSuchTable = 1146

func numberIs(err error, number int) bool {
	n, _, ok := sqlcode.Number(err)
	return ok && n == number
}

// version reads the version of the schema and refuses one that this program is too
// old for.
func (m migrator) version(ctx context.Context, c *sql.Conn) (int, error) {
	var version, compatible sql.NullInt64
	err := c.QueryRowContext(ctx, "SELECT MAX(version), MAX(compatible) FROM "+m.table).Scan(&version, &compatible)
	if err != nil {
		return 0, err
	}
	return int(version.Int64), sqlrecord.CheckSchema(m.all, int(version.Int64), int(compatible.Int64))
}

// migrationWait is for how long another process may migrate meanwhile.
const migrationWait = 60 * time.Second

// The lock that lets one process migrate at a time. Its name is the server's, not
// the database's.
const (
	lockName     = "CONCAT('semel ', LEFT(SHA2(CONCAT(DATABASE(), '.', ?), 256), 40))"
	takeLock     = "SELECT GET_LOCK(" + lockName + ", ?)"
	giveLockBack = "DO RELEASE_LOCK(" + lockName + ")"
)

// migrate applies what is missing. The server commits each statement of a schema by
// itself, so every one of them can be repeated.
func (m migrator) migrate(ctx context.Context, c *sql.Conn) (err error) {
	var got sql.NullInt64
	if err := c.QueryRowContext(ctx, takeLock, m.table, int(migrationWait.Seconds())).Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return errors.New("another process has migrated for a minute, or the DSN names no database; start again when it is through")
	}
	defer func() {
		_, unlock := c.ExecContext(context.WithoutCancel(ctx), giveLockBack, m.table)
		err = errors.Join(err, unlock)
	}()
	_, err = c.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+m.table+
		" (version INT NOT NULL PRIMARY KEY, compatible INT NOT NULL, applied_at BIGINT NOT NULL) ENGINE = InnoDB")
	if err != nil {
		return err
	}
	version, err := m.version(ctx, c)
	if err != nil {
		return err
	}
	for _, step := range m.all {
		if step.Version <= version {
			continue
		}
		if err := m.apply(ctx, c, step); err != nil {
			return fmt.Errorf("%s: %w", step.Name, err)
		}
	}
	return nil
}

func (m migrator) apply(ctx context.Context, c *sql.Conn, step sqlrecord.Migration) error {
	for _, sql := range step.Statements() {
		if _, err := c.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, "INSERT INTO "+m.table+" (version, compatible, applied_at) VALUES (?, ?, "+clock+")", step.Version, step.Compatible)
	return err
}

// checkEngine refuses tables that know no transactions.
func checkEngine(ctx context.Context, c *sql.Conn, table string) error {
	var engine sql.NullString
	err := c.QueryRowContext(ctx, "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", table).Scan(&engine)
	if err != nil {
		return fmt.Errorf("sqlstore: the table %s is not there, or not to be seen: %w", table, err)
	}
	if engine.String != "InnoDB" {
		return fmt.Errorf("sqlstore: the table %s has the engine %s; convert it with ALTER TABLE %s ENGINE = InnoDB", table, engine.String, table)
	}
	return nil
}
