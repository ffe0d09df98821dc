package sqlstore

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel/internal/mysql"
)

// NewMySQL returns a store on a MySQL (8.0 or later) or MariaDB (10.6 or later)
// database that the caller opened and closes, with github.com/go-sql-driver/mysql
// for example, and creates or updates its tables. The DSN names the database; the
// store needs no parameter of it.
//
// A server or a session is refused that can never work: one that is read-only,
// that does not commit by itself, that reads uncommitted rows, or that is too old.
// [Store.Guarantees] tells what the settings of the server promise.
//
// The server's clock counts. A call waits for a record that somebody else's
// transaction holds for 1s on MariaDB, and for innodb_lock_wait_timeout of its
// session on MySQL: set that to 1 in the DSN. A claim then answers running. When a
// context ends, the server goes on: the answer is [semel.ErrNoReply].
//
// The pool should allow some eight connections for the store; MaxIdleConns should
// not be much lower, since each connection prepares the statements anew.
func NewMySQL(ctx context.Context, db *sql.DB, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s, err := mysql.New(ctx, db, mysql.Options{Prefix: o.Prefix, MaxBatch: o.MaxBatch, Timeout: o.Timeout, NoMigrate: o.NoMigrate})
	if err != nil {
		return nil, err
	}
	return &Store{methods: s, db: db}, nil
}
