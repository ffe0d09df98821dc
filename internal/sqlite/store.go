package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Store keeps records in a SQL database. Make one with [Open] or
// [New]. All methods may be called concurrently.
//
// Its errors, beside those of the contract: [semel.ErrStoreUnavailable] when the
// database could not be written to in time, or the context ended before the call
// was started; [semel.ErrNoReply] when the context ended later, or the commit
// failed in a way that leaves its outcome open; [semel.ErrStoreFull] when the disk
// is full.
type Store struct {
	db     *sql.DB
	owned  bool
	writer *writer
	calls  *combiner.Combiner[operation]
	now    func() int64
	reads  reads
	inTx   stmts // for transactions of package inbox, whose order place keeps
	place  place
}

var (
	_ semel.Store        = (*Store)(nil)
	_ semel.Lister       = (*Store)(nil)
	_ semel.Purger       = (*Store)(nil)
	_ semel.Checkpointer = (*Store)(nil)
)

// open migrates the schema and takes the writing connection, so that what is
// unfit is refused now.
func open(ctx context.Context, db *sql.DB, o Options) (*Store, error) {
	now := func() int64 { return o.Now().UnixMicro() }
	s := &Store{db: db, now: now, place: place{taken: make(chan struct{}, 1)}}
	s.writer = &writer{db: db, sql: sqlOf(o.Prefix), now: now, patience: o.BusyTimeout}
	s.calls = combiner.New(combiner.Config[operation]{
		Max:     o.MaxBatch,
		Compare: func(a, b operation) int { return bytes.Compare(a.sortKey(), b.sortKey()) },
		Flush:   s.writer.flush,
		Alone:   spoilt,
	})
	if err := s.start(ctx, o); err != nil {
		s.writer.disconnect()
		return nil, err
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, o Options) error {
	if err := s.writer.connect(ctx); err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	migrations, err := Migrations(o.Prefix)
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.db, migrations, o.Prefix, s.now()); err != nil {
		return fmt.Errorf("sqlstore: migrate: %w", err)
	}
	if err := s.reads.prepare(ctx, s.db, s.writer.sql); err != nil {
		return err
	}
	if err := s.inTx.prepare(ctx, s.db, s.writer.sql); err != nil {
		return errors.Join(err, s.reads.close())
	}
	return nil
}

// DB returns the database, for the caller's own tables beside Semel's.
func (s *Store) DB() *sql.DB { return s.db }

// Close waits for calls under way and gives the connections back; a database that
// [Open] opened is closed. Calls from then on answer
// [semel.ErrStoreUnavailable].
func (s *Store) Close() error {
	err := s.calls.Close(context.Background())
	s.writer.disconnect()
	err = errors.Join(err, s.reads.close(), s.inTx.close())
	if s.owned {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

// do executes an operation in some batch.
func (s *Store) do(ctx context.Context, op operation) error {
	return sqlrecord.Unbatched(s.calls.Do(ctx, op))
}
