package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/semel-go/semel/internal/sqlite"
)

// OpenSQLite opens a store on a SQLite file and creates or updates its tables.
// On every connection WAL, synchronous=FULL and the busy timeout are set and
// verified, whatever the driver's defaults are. A database that cannot have a
// write-ahead log (":memory:", a temporary one, some network file systems) is
// refused. Several processes may open one file on the same host.
//
// Of the pool behind [Store.DB] the store keeps one connection for writing.
func OpenSQLite(ctx context.Context, connector driver.Connector, opts *Options) (*Store, error) {
	o, err := opts.forSQLite()
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, connector, o)
	if err != nil {
		return nil, err
	}
	return &Store{methods: s, db: s.DB()}, nil
}

// NewSQLite returns a store on a database that the caller opened and closes. Its
// connections must come with WAL, synchronous FULL (or EXTRA) and a busy timeout;
// the one that the store keeps for writing is verified, and refused with the fix
// if it is unfit. The pool must allow two connections at least.
func NewSQLite(ctx context.Context, db *sql.DB, opts *Options) (*Store, error) {
	o, err := opts.forSQLite()
	if err != nil {
		return nil, err
	}
	s, err := sqlite.New(ctx, db, o)
	if err != nil {
		return nil, err
	}
	return &Store{methods: s, db: db}, nil
}

func (o *Options) forSQLite() (sqlite.Options, error) {
	c := o.withDefaults()
	return sqlite.Options{Prefix: c.Prefix, BusyTimeout: c.BusyTimeout, MaxBatch: c.MaxBatch, Now: c.Now}, c.validate()
}
