package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"runtime"
	"time"
)

// Options are settings that package sqlstore has filled in and checked.
type Options struct {
	Prefix      string
	BusyTimeout time.Duration
	MaxBatch    int
	Now         func() time.Time
}

// Open opens a store on a file: see sqlstore.OpenSQLite.
func Open(ctx context.Context, connector driver.Connector, o Options) (*Store, error) {
	if connector == nil {
		return nil, errors.New("sqlstore: no connector; make one with sqlstore.Connector")
	}
	db := sql.OpenDB(&sqliteConnector{Connector: connector, busy: o.BusyTimeout})
	conns := 1 + max(4, runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	s, err := open(ctx, db, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.owned = true
	return s, nil
}

// New returns a store on a database of the caller: see sqlstore.NewSQLite.
func New(ctx context.Context, db *sql.DB, o Options) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database; open one, or use sqlstore.OpenSQLite")
	}
	if db.Stats().MaxOpenConnections == 1 {
		return nil, errors.New("sqlstore: the pool has one connection only, and the store keeps one for writing; call SetMaxOpenConns with 2 or more")
	}
	return open(ctx, db, o)
}
