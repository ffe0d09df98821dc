package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/sqlstore"
)

// mariadb is a database of a suite's own.
type mariadb struct {
	admin, dsn *mysql.Config
	cleanup    cleanup
}

// openMariaDB makes an empty database on the server of the environment.
func openMariaDB(ctx context.Context, cfg *window.Config, name string) (*mariadb, error) {
	dsn, err := serverURL(cfg, "ENGINES_MARIADB_DSN", "ENGINES_MARIADB_PID")
	if err != nil {
		return nil, err
	}
	admin, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	m := &mariadb{admin: admin, dsn: admin.Clone()}
	m.dsn.DBName = "bench_" + name
	return m, execMariaDB(ctx, admin, m.drop(), "CREATE DATABASE "+m.dsn.DBName)
}

func (m *mariadb) drop() string { return "DROP DATABASE IF EXISTS " + m.dsn.DBName }

// close ends all pools and drops the database.
func (m *mariadb) close(ctx context.Context) {
	m.cleanup.run()
	// What stays behind after a failure ends with the server.
	_ = execMariaDB(context.WithoutCancel(ctx), m.admin, m.drop())
}

// db is a pool.
func (m *mariadb) db() (*sql.DB, error) {
	db, err := openDB("mysql", m.dsn.FormatDSN())
	if err != nil {
		return nil, err
	}
	m.cleanup.add(func() { db.Close() })
	return db, nil
}

// store is Semel's, on a pool of its own.
func (m *mariadb) store(ctx context.Context, o *sqlstore.Options) (*sqlstore.Store, error) {
	db, err := m.db()
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.NewMySQL(ctx, db, o)
	if err != nil {
		return nil, err
	}
	m.cleanup.add(func() { store.Close() })
	return store, nil
}

// version is the server's, such as 10.11.14.
func (m *mariadb) version(ctx context.Context) (version string, err error) {
	db, err := m.db()
	if err != nil {
		return "", err
	}
	err = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	version, _, _ = strings.Cut(version, "-")
	return version, err
}

// exec runs statements, each by itself.
func (m *mariadb) exec(ctx context.Context, statements ...string) error {
	return execMariaDB(ctx, m.dsn, statements...)
}

func execMariaDB(ctx context.Context, dsn *mysql.Config, statements ...string) error {
	db, err := openDB("mysql", dsn.FormatDSN())
	if err != nil {
		return err
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
