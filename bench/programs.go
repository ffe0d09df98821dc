package main

import (
	"context"
	"errors"

	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"
)

// postgresPrograms are the programs that are compared on PostgreSQL, each with its
// table and pool, in a database of a suite's own.
type postgresPrograms struct {
	*postgres
	naive *naivePGX
	sql   *sqlstore.Store
	pgx   *pgxstore.Store
}

func openPostgresPrograms(ctx context.Context, cfg *window.Config, name string) (*postgresPrograms, error) {
	db, err := openPostgres(ctx, cfg, name)
	if err != nil {
		return nil, err
	}
	p := &postgresPrograms{postgres: db}
	var errNaive, errSQL, errPGX error
	p.naive, errNaive = openNaivePGX(ctx, db)
	p.sql, errSQL = db.store(ctx)
	p.pgx, errPGX = db.pgxStore(ctx, nil)
	if err := errors.Join(errNaive, errSQL, errPGX); err != nil {
		db.close(ctx)
		return nil, err
	}
	return p, nil
}

// mariadbPrograms are those on MariaDB.
type mariadbPrograms struct {
	*mariadb
	naive *naive
	semel *sqlstore.Store
}

func openMariaDBPrograms(ctx context.Context, cfg *window.Config, name string) (*mariadbPrograms, error) {
	db, err := openMariaDB(ctx, cfg, name)
	if err != nil {
		return nil, err
	}
	m := &mariadbPrograms{mariadb: db}
	var errNaive, errSemel error
	m.naive, errNaive = openNaiveMariaDB(ctx, db)
	m.semel, errSemel = db.store(ctx, nil)
	if err := errors.Join(errNaive, errSemel); err != nil {
		db.close(ctx)
		return nil, err
	}
	return m, nil
}
