package backends

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"

	driver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib" // registers "pgx"
	_ "github.com/lib/pq"            // registers "postgres"
)

// Server is an engine that a test may kill and stop.
type Server interface {
	Addr() string
	Database(t testing.TB) string
	Kill(t testing.TB)
	Restart(t testing.TB)
	Pause(t testing.TB)
	Resume(t testing.TB)
}

// connections of a pool; the callers of a test are no more than a few dozen.
const connections = 32

// PostgresSQL is PostgreSQL with a driver of database/sql.
func PostgresSQL(driver, registered string) Backend {
	return Backend{
		Name: "PostgreSQL, " + driver, Engine: "PostgreSQL", dialect: postgres,
		Resends:  registered == "postgres",
		Database: func(t testing.TB) string { return engines.Postgres(t).Database(t) },
		Proxy:    postgresProxy,
		Private:  privatePostgres,
		Open: func(ctx context.Context, dsn string) (*Handle, error) {
			db, err := sql.Open(registered, dsn)
			if err != nil {
				return nil, err
			}
			return onDB(ctx, postgres, db, sqlstore.NewPostgres)
		},
	}
}

// PostgresPool is PostgreSQL with a pool of pgx.
func PostgresPool() Backend {
	b := PostgresSQL("", "")
	b.Name, b.Open = "PostgreSQL, pgxpool", openPool
	return b
}

// MariaDB is MariaDB with go-sql-driver/mysql.
func MariaDB() Backend {
	return Backend{
		Name: "MariaDB", Engine: "MariaDB", dialect: mysql,
		Database: func(t testing.TB) string { return engines.MariaDB(t).Database(t) },
		Proxy:    func(t testing.TB) *faultproxy.Proxy { return faultproxy.MySQL(t, engines.MariaDB(t).Addr()) },
		Private: func(t testing.TB, settings map[string]string) Server {
			return engines.NewMariaDB(t, &engines.Options{Settings: settings})
		},
		Open: openMariaDB,
	}
}

func postgresProxy(t testing.TB) *faultproxy.Proxy {
	return faultproxy.Postgres(t, engines.Postgres(t).Addr())
}

func privatePostgres(t testing.TB, settings map[string]string) Server {
	return engines.NewPostgres(t, &engines.Options{Settings: settings})
}

func openPool(ctx context.Context, dsn string) (*Handle, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	store, err := pgxstore.New(ctx, pool, nil)
	if err != nil {
		pool.Close()
		return nil, err
	}
	db := stdlib.OpenDBFromPool(pool)
	return &Handle{Store: store, DB: db, dialect: postgres, closers: []func() error{
		store.Close, db.Close, func() error { pool.Close(); return nil },
	}}, nil
}

func openMariaDB(ctx context.Context, dsn string) (*Handle, error) {
	config, err := driver.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.Logger = &driver.NopLogger{} // it writes of each connection that breaks
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return onDB(ctx, mysql, sql.OpenDB(connector), sqlstore.NewMySQL)
}

// onDB opens a store on a pool that keeps its connections. When it is closed, those whose
// server was killed cannot say good-bye, which is no news.
func onDB(ctx context.Context, d dialect, db *sql.DB, open func(context.Context, *sql.DB, *sqlstore.Options) (*sqlstore.Store, error)) (*Handle, error) {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	store, err := open(ctx, db, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Handle{Store: store, DB: db, dialect: d, closers: []func() error{
		store.Close, func() error { _ = db.Close(); return nil },
	}}, nil
}
