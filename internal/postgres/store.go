package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
	"github.com/semel-go/semel/internal/sqlcode"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Options are settings that the package of the store has filled in and checked.
type Options struct {
	Prefix    string
	Timeout   time.Duration // of a statement
	MaxBatch  int
	NoMigrate bool
	// Direct is how many calls of a kind go side by side before they form batches.
	// Default 8, all lanes.
	Direct int
	// Ended, if there is one, is told at once of runs that end in this process while
	// somebody waits for them.
	Ended func(semel.KeyID)
}

// Store keeps records in PostgreSQL. Make one with [New]. All methods may be
// called concurrently.
type Store struct {
	db      Database
	text    *Text
	timeout time.Duration
	claims  *combiner.Combiner[*claim]
	owners  *combiner.Combiner[*owner]
	held    heldKeys
	// repeated: the last claim outside of a batch met a record.
	repeated atomic.Bool
	told     notifier
	closed   atomic.Bool
}

var (
	_ semel.Store        = (*Store)(nil)
	_ semel.Lister       = (*Store)(nil)
	_ semel.Purger       = (*Store)(nil)
	_ semel.Checkpointer = (*Store)(nil)
)

// The waits for a row that another transaction holds. A batch does not wait for
// long, since a single row would keep all of it waiting: its calls go on one by one.
const (
	waitOne  Wait = "500"
	waitMany Wait = "50"
)

// lanes is how many statements of a kind may be under way: up to so many calls go side
// by side, as fast as single statements; more of them share one, unless it takes long.
const lanes = 8

// New returns a store on a database, which it closes with itself. The server is
// looked at, and the schema brought up to date, so that what is unfit is refused
// now.
func New(ctx context.Context, db Database, o Options) (*Store, error) {
	s := newStore(db, o)
	if err := s.start(ctx, o); err != nil {
		return nil, fmt.Errorf("semel: postgres: %w", err)
	}
	return s, nil
}

func newStore(db Database, o Options) *Store {
	s := &Store{db: db, text: NewText(o.Prefix), timeout: o.Timeout}
	s.told.send, s.told.ended = s.notify, o.Ended
	s.claims = combiner.New(combiner.Config[*claim]{
		Max: o.MaxBatch, Lanes: lanes, Direct: cmp.Or(o.Direct, lanes), Flush: s.flushClaims,
		Compare: func(a, b *claim) int { return bytes.Compare(a.p.Key[:], b.p.Key[:]) },
	})
	s.owners = combiner.New(combiner.Config[*owner]{
		Max: o.MaxBatch, Lanes: lanes, Direct: cmp.Or(o.Direct, lanes), Flush: s.flushOwners,
		Compare: func(a, b *owner) int { return bytes.Compare(a.key[:], b.key[:]) },
	})
	return s
}

func (s *Store) start(ctx context.Context, o Options) error {
	if err := s.admit(ctx); err != nil {
		return fmt.Errorf("%w%s", err, fix(err))
	}
	if err := migrate(ctx, s.db, o.Prefix, o.NoMigrate); err != nil {
		hint := fix(err)
		if sqlcode.State(err) == "42501" {
			hint = " (the role may not create tables: let one that may apply what semel migrate --print shows, and GRANT the privileges)"
		}
		return fmt.Errorf("schema: %w%s", err, hint)
	}
	return s.checkRights(ctx)
}

// TextOf returns the statements of a store, for transactions of the caller.
func TextOf(s *Store) *Text { return s.text }

// Close waits for calls under way. Calls from then on answer
// [semel.ErrStoreUnavailable].
func (s *Store) Close() error {
	s.closed.Store(true)
	err := errors.Join(s.claims.Close(context.Background()), s.owners.Close(context.Background()))
	s.told.close()
	return errors.Join(err, s.db.Close())
}

var errClosed = fmt.Errorf("%w: postgres: the store is closed", semel.ErrStoreUnavailable)

// begin bounds a call that is no part of a batch, and refuses one that comes too
// late.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if s.closed.Load() {
		return nil, nil, errClosed
	}
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	return ctx, cancel, nil
}

// alone runs a statement that is no part of a batch, again if the server asks for it.
func (s *Store) alone(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	for n := range conflicts {
		if err = run(ctx); answerable(err) || classOf(err) != classAgain || !pause(ctx, n) {
			break
		}
	}
	return err
}

// conflicts bounds how often a call begins again after a deadlock or a serialization
// failure. Under READ COMMITTED there are next to none.
const conflicts = 32

// pause keeps calls that were in each other's way apart, for longer each time. It
// reports false if the call has no time left.
func pause(ctx context.Context, n int) bool {
	t := time.NewTimer(rand.N(time.Millisecond << min(n, 6)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Read is [semel.Store.Read].
func (s *Store) Read(ctx context.Context, p semel.ReadParams) (rec semel.Record, err error) {
	err = s.alone(ctx, func(ctx context.Context) error {
		r, now, err := s.load(ctx, p.Key)
		if r != nil {
			rec = r.Record(now)
		}
		return err
	})
	return rec, unread(ctx, err)
}

// load reads the record of a key as it counts, nil for none.
func (s *Store) load(ctx context.Context, key semel.KeyID) (*sqlrecord.Row, int64, error) {
	var found *seen
	err := s.db.Query(ctx, s.text.read, []any{uuid(key)}, func(r Row) error {
		found = new(seen)
		return found.read(r)
	})
	if err != nil || found == nil {
		return nil, 0, err
	}
	r, err := found.record()
	return r, found.now, err
}
