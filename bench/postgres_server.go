package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx" of database/sql
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"
)

// connections is the size of each pool. It is among the best for those who use one
// connection a caller; a store needs few.
const connections = 32

// postgres is a database of a suite's own.
type postgres struct {
	admin, url, name string
	cleanup          cleanup
}

// openPostgres makes an empty database on the server of the environment.
func openPostgres(ctx context.Context, cfg *window.Config, name string) (*postgres, error) {
	admin, err := serverURL(cfg, "ENGINES_POSTGRES_URL", "ENGINES_POSTGRES_PID")
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(admin)
	if err != nil {
		return nil, err
	}
	p := &postgres{admin: admin, name: "bench_" + name}
	u.Path = "/" + p.name
	p.url = u.String()
	return p, execPostgres(ctx, admin, p.drop(), "CREATE DATABASE "+p.name)
}

func (p *postgres) drop() string { return "DROP DATABASE IF EXISTS " + p.name + " WITH (FORCE)" }

// close ends all pools and drops the database.
func (p *postgres) close(ctx context.Context) {
	p.cleanup.run()
	// What stays behind after a failure ends with the server.
	_ = execPostgres(context.WithoutCancel(ctx), p.admin, p.drop())
}

// pool is a pool of pgx.
func (p *postgres) pool(ctx context.Context) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(p.url)
	if err != nil {
		return nil, err
	}
	c.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	p.cleanup.add(pool.Close)
	return pool, nil
}

// db is a pool of database/sql.
func (p *postgres) db() (*sql.DB, error) {
	db, err := openDB("pgx", p.url)
	if err != nil {
		return nil, err
	}
	p.cleanup.add(func() { db.Close() })
	return db, nil
}

// store is Semel's on database/sql, on a pool of its own.
func (p *postgres) store(ctx context.Context) (*sqlstore.Store, error) {
	db, err := p.db()
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.NewPostgres(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	p.cleanup.add(func() { store.Close() })
	return store, nil
}

// pgxStore is Semel's on pgx, on a pool of its own.
func (p *postgres) pgxStore(ctx context.Context, o *pgxstore.Options) (*pgxstore.Store, error) {
	pool, err := p.pool(ctx)
	if err != nil {
		return nil, err
	}
	store, err := pgxstore.New(ctx, pool, o)
	if err != nil {
		return nil, err
	}
	p.cleanup.add(func() { store.Close() })
	return store, nil
}

// openDB keeps as many idle connections as it may open.
func openDB(driver, dsn string) (*sql.DB, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// version is the server's, such as 15.18.
func (p *postgres) version(ctx context.Context) (version string, err error) {
	db, err := p.db()
	if err != nil {
		return "", err
	}
	err = db.QueryRowContext(ctx, "SHOW server_version").Scan(&version)
	version, _, _ = strings.Cut(version, " ")
	return version, err
}

// exec runs statements, each by itself.
func (p *postgres) exec(ctx context.Context, statements ...string) error {
	return execPostgres(ctx, p.url, statements...)
}

func execPostgres(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
