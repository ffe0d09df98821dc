package sqlstore

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel/internal/postgres"
)

// NewPostgres returns a store on a PostgreSQL (13 or later) database that the caller
// opened and closes, with github.com/jackc/pgx/v5/stdlib or github.com/lib/pq for
// example, and creates or updates its tables, in the first schema of the search
// path. Package pgxstore does the same on a pool of pgx, and tells waiters at once.
//
// A server or a role is refused that can never work: a standby, read-only
// transactions, a version that is too old, missing privileges.
// [Store.Guarantees] tells what the settings of the server promise.
//
// The server's clock counts. A claim that meets a record which somebody else's
// transaction holds waits for half a second, and then answers running.
//
// The pool should allow some eight connections for the store, and as many idle
// ones: [sql.DB.SetMaxIdleConns] is 2 by default, and each new connection prepares
// the statements anew.
func NewPostgres(ctx context.Context, db *sql.DB, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s, err := postgres.NewSQL(ctx, db, o.Pooler, postgres.Options{Prefix: o.Prefix, MaxBatch: o.MaxBatch, Timeout: o.Timeout, NoMigrate: o.NoMigrate})
	if err != nil {
		return nil, err
	}
	return &Store{methods: s, db: db}, nil
}
