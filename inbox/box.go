package inbox

import (
	"database/sql"
	"errors"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/sqltx"
	"github.com/semel-go/semel/sqlstore"
)

// Box runs operations in transactions of one database. It holds no connection and
// no goroutine, and needs no closing. All methods may be called concurrently.
type Box struct {
	store *sqlstore.Store
	flow  *intx.Flow[*sql.Tx]
}

// ErrEnded: the work committed or rolled back the transaction itself. Had it
// committed, its record says "done, result not kept", and the work does not run
// again; else it had no effect.
var ErrEnded = intx.ErrEnded

// New returns a box on the database of store, whose records it shares: an operator
// finds, reads and purges them there. opts may be nil. All mistakes in opts are
// reported at once.
func New(store *sqlstore.Store, opts *Options) (*Box, error) {
	if store == nil {
		return nil, errors.New("inbox: the store is nil; open one first, such as sqlstore.OpenSQLite")
	}
	dialect, ok := store.Transactional()
	if !ok {
		return nil, errors.New("inbox: this database has no transactional mode; use SQLite, PostgreSQL, MySQL or MariaDB")
	}
	if opts == nil {
		opts = new(Options)
	}
	flow, err := intx.New(sqltx.New(store.DB(), dialect, opts.Isolation), store, intx.Settings(*opts))
	if err != nil {
		return nil, err
	}
	return &Box{store: store, flow: flow}, nil
}

// Store returns the store of the box's records.
func (b *Box) Store() semel.Store { return b.store }

// Defaults returns an operation with the box's settings and neither key nor input:
// for layers that show them.
func (b *Box) Defaults() semel.Op { return b.flow.Defaults() }

// Check reports whether the box takes operations with the settings of op, whatever
// their key and input: for layers that know them at start.
func (b *Box) Check(op semel.Op) error { return b.flow.Check(op) }
