package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// Harness says how to get at the store under test.
type Harness struct {
	// New returns a fresh, empty store: its own file, schema or prefix. It is called
	// once for each case, from [Run] concurrently.
	New func(ctx context.Context) (*Subject, error)
	// Seed varies the random runs; each failure prints it. Default 1.
	Seed uint64
}

// Subject is one store under test. Store and Advance are required.
type Subject struct {
	Store semel.Store
	// Advance moves the store's clock forward. Where the clock is the server's own,
	// move all times of the stored records back instead.
	Advance func(ctx context.Context, d time.Duration) error
	// Reopen returns another handle on the same records, as a second process would
	// have; the first one stays in use. Nil: the store has no second handle.
	Reopen func(ctx context.Context) (semel.Store, error)
	// Skewed returns another handle whose caller's clock is off by d. Nil: the store
	// lives in its caller's process and has no clock but that one.
	Skewed func(ctx context.Context, d time.Duration) (semel.Store, error)
	// SetFormat writes another format version into a stored record. Nil: no record
	// of another version can ever be there.
	SetFormat func(ctx context.Context, key semel.KeyID, format int) error
	// Close frees the store and all its handles. Nil: there is nothing to free.
	Close func() error
}

// Clock is a clock that only moves when told to, for stores that take one. It may
// be used concurrently.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at a fixed time.
func NewClock() *Clock { return &Clock{now: time.Unix(1_750_000_000, 0)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward; it has the type of [Subject.Advance].
func (c *Clock) Advance(_ context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return nil
}
