package pgxstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/postgres"
	"github.com/semel-go/semel/internal/waitroom"
)

// Store keeps records in PostgreSQL. Make one with [New]. All methods may be
// called concurrently.
//
// Its errors, beside those of the contract: [semel.ErrStoreUnavailable] when the
// server could not be reached or refused, or the context ended before the call was
// started; [semel.ErrNoReply] when the context ended later, or the connection
// broke; [semel.ErrStoreFull] when the disk is full.
type Store struct {
	records
	inner *postgres.Store
	pool  *pgxpool.Pool
	db    *database
	line  *line
	room  *waitroom.Room
}

// records are the methods that package sqlstore has too.
type records interface {
	semel.Store
	semel.Lister
	semel.Purger
	semel.Checkpointer
}

var (
	_ records            = (*Store)(nil)
	_ semel.ChangeWaiter = (*Store)(nil)
)

// New returns a store on a PostgreSQL (13 or later) database, and creates or updates
// its tables, in the first schema of the search path. The caller closes the pool, after
// the store.
//
// A server or a role is refused that can never work: a standby, read-only
// transactions, a version that is too old, missing privileges.
// [Store.Guarantees] tells what the settings of the server promise.
//
// The server's clock counts. A claim that meets a record which somebody else's
// transaction holds waits for half a second, and then answers running.
//
// A pool whose connections go through a pooler in transaction mode (PgBouncer) is
// recognised, and no prepared statements are used on it.
func New(ctx context.Context, pool *pgxpool.Pool, opts *Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("pgxstore: no pool; make one with pgxpool.New")
	}
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	db, pooled, err := connect(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("pgxstore: %w", err)
	}
	listen := o.Listen
	if listen == nil && !pooled {
		listen = pool.Config().ConnConfig
	}
	l := &line{config: listen}
	room := waitroom.New(l.open)
	s, err := postgres.New(ctx, db, postgres.Options{
		Prefix: o.Prefix, MaxBatch: o.MaxBatch, Timeout: o.Timeout, NoMigrate: o.NoMigrate, Ended: room.Tell,
	})
	if err != nil {
		return nil, err
	}
	l.channel = postgres.TextOf(s).Channel()
	return &Store{records: s, inner: s, pool: pool, db: db, line: l, room: room}, nil
}

// connect looks who is at the other end of a connection. A pooler gives itself away by
// another number of the session than the server's.
func connect(ctx context.Context, pool *pgxpool.Pool) (db *database, pooled bool, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	defer conn.Release()
	var pid uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid); err != nil {
		return nil, false, err
	}
	db = &database{pool: pool}
	pooled = pid != conn.Conn().PgConn().PID()
	if mode := pool.Config().ConnConfig.DefaultQueryExecMode; pooled && mode == pgx.QueryExecModeCacheStatement {
		db.mode = pgx.QueryExecModeExec
	}
	return db, pooled, nil
}

// Pool returns the pool, for the caller's own tables beside Semel's.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Close waits for calls under way, and ends the connection that listens. Calls from
// then on answer [semel.ErrStoreUnavailable]. The pool stays open.
func (s *Store) Close() error {
	s.room.Close()
	return s.inner.Close()
}
