package mysql

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
)

// Options are settings that package sqlstore has filled in and checked.
type Options struct {
	Prefix   string
	MaxBatch int
	// Timeout bounds each call, beside its caller's context.
	Timeout time.Duration
	// NoMigrate leaves the schema to others.
	NoMigrate bool
	// Direct is how many calls of a kind go side by side before they form batches.
	// Default 8, all lanes.
	Direct int
}

// Store keeps records in a database of the MySQL family. Make one with [New]. All
// methods may be called concurrently.
type Store struct {
	db       *sql.DB
	dialect  dialect
	texts    *[statements]text
	prepared [statements]*sql.Stmt
	inserts  inserts
	patience patience
	server   server
	// foundRows: the connections count rows that a statement met, not rows that it changed.
	foundRows bool
	maxText   int // of a batch's statement, in bytes
	maxResult int // see server.maxResult
	floor     floor
	gate      gate
	claims    *combiner.Combiner[*claim]
	finishes  *combiner.Combiner[*finish]
}

var (
	_ semel.Store        = (*Store)(nil)
	_ semel.Lister       = (*Store)(nil)
	_ semel.Purger       = (*Store)(nil)
	_ semel.Checkpointer = (*Store)(nil)
)

// lanes is how many statements of a kind are under way at most: see internal/postgres.
const lanes = 8

// New returns a store on a database of the caller: see sqlstore.NewMySQL.
func New(ctx context.Context, db *sql.DB, o Options) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database; open one with a driver such as github.com/go-sql-driver/mysql")
	}
	s := &Store{db: db, patience: patience{timeout: o.Timeout}}
	if err := s.start(ctx, o); err != nil {
		s.unprepare()
		return nil, err
	}
	s.claims = combiner.New(combiner.Config[*claim]{
		Max: o.MaxBatch, Lanes: lanes, Direct: cmp.Or(o.Direct, lanes), Flush: s.flushClaims,
		Compare: func(a, b *claim) int { return bytes.Compare(a.p.Key[:], b.p.Key[:]) },
	})
	s.finishes = combiner.New(combiner.Config[*finish]{
		Max: o.MaxBatch, Lanes: lanes, Direct: cmp.Or(o.Direct, lanes), Flush: s.flushFinishes,
		Compare: func(a, b *finish) int { return bytes.Compare(a.p.Key[:], b.p.Key[:]) },
	})
	return s, nil
}

// start refuses what can never work, and makes the schema and the statements.
func (s *Store) start(ctx context.Context, o Options) (err error) {
	if s.server, err = admit(ctx, s.db); err != nil {
		return err
	}
	s.dialect = newDialect(o.Prefix, s.server.mariadb())
	s.texts = s.dialect.statements()
	s.maxText, s.maxResult = s.server.maxText(), s.server.maxResult()
	if err := s.schema(ctx, o); err != nil {
		return err
	}
	for id, t := range s.texts {
		if s.prepared[id], err = s.db.PrepareContext(ctx, t.sql); err != nil {
			return unprepared(err)
		}
	}
	if s.foundRows, err = s.probeFoundRows(ctx); err != nil {
		return err
	}
	_, err = s.leastFence(ctx)
	return err
}

// unprepared names the fix for a statement that the server does not take.
func unprepared(err error) error {
	return fmt.Errorf("sqlstore: the tables are not as they must be, or the user lacks a privilege on them"+
		" (SELECT, INSERT, UPDATE and DELETE on the record table, SELECT and UPDATE on the floor table, SELECT on the schema table): %w", err)
}

// unprepare gives the statements back. Those of a connection that is gone, which is all
// that can go wrong, went with it.
func (s *Store) unprepare() {
	for _, stmt := range s.prepared {
		if stmt != nil {
			_ = stmt.Close()
		}
	}
	s.inserts.close()
}

// unprepareSoon waits a second at most: database/sql closes no statement of a connection
// that hangs. It ends with the connection.
func (s *Store) unprepareSoon() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.unprepare()
	}()
	late := time.NewTimer(time.Second)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// Close waits for calls under way. Calls from then on answer
// [semel.ErrStoreUnavailable]. The database stays open.
func (s *Store) Close() error {
	if !s.gate.close() {
		return nil
	}
	defer s.unprepareSoon()
	return errors.Join(s.claims.Close(context.Background()), s.finishes.Close(context.Background()))
}

// alone executes a call that shares its statements with no others. step reports
// whether it settled the call; what it did not settle, somebody else's change was in
// the way of.
func (s *Store) alone(ctx context.Context, key semel.KeyID, step func(context.Context, runner) (bool, error)) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	return s.repeat(ctx, key, step)
}

func (s *Store) repeat(ctx context.Context, key semel.KeyID, step func(context.Context, runner) (bool, error)) error {
	if err := ended(ctx); err != nil {
		return err
	}
	ctx, cancel := s.patience.bound(ctx)
	defer cancel()
	for range attempts {
		settled, err := step(ctx, runner{store: s})
		if settled || err != nil && ClassOf(err) != Conflict {
			return err
		}
	}
	return errRestless(key)
}

// reading executes a call that changes nothing.
func (s *Store) reading(ctx context.Context, read func(context.Context) error) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	if err := ended(ctx); err != nil {
		return err
	}
	ctx, cancel := s.patience.bound(ctx)
	defer cancel()
	err := read(ctx)
	if err == nil || isAnswer(err) {
		return err
	}
	return unread(ctx, err)
}

// isAnswer reports an error of the contract, as opposed to one of the database.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*semel.RecordFormatError](err)
	return ok
}

// leastFence is the lowest fence of a new record.
func (s *Store) leastFence(ctx context.Context) (int64, error) {
	least, err := s.floor.least(ctx, s.readFloor)
	if err != nil {
		return 0, unread(ctx, err)
	}
	return least, nil
}

func (s *Store) readFloor(ctx context.Context) (fence int64, err error) {
	err = s.prepared[stmtFloor].QueryRowContext(ctx).Scan(&fence)
	return fence, err
}
