package idgen_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semeltest"
)

const lease = 6 * time.Second

// old is before the year 2000, in which testing/synctest lives.
var old = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)

// two is a layout of two worker ids, so that they are soon needed again.
var two = idgen.Layout{Epoch: old, WorkerBits: 1, SequenceBits: 4}

// ledger holds every id that was issued in a test, whoever issued it.
type ledger struct {
	mu     sync.Mutex
	issued map[idgen.Snowflake]string
	twice  int
}

// write notes an id and reports whether nobody had it before.
func (l *ledger) write(id idgen.Snowflake, host string) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.issued == nil {
		l.issued = make(map[idgen.Snowflake]string)
	}
	if _, there := l.issued[id]; there {
		l.twice++
		return false
	}
	l.issued[id] = host
	return true
}

// host is a machine: its wall clock, its way to the store, and the node on it.
type host struct {
	t     *testing.T
	name  string
	book  *ledger
	store *bentStore
	// breaks makes checkpoints succeed and keep nothing.
	breaks bool
	opts   idgen.Options
	node   *idgen.Node

	mu   sync.Mutex
	off  time.Duration // by how much the wall clock is wrong
	last idgen.Snowflake
}

// bentStore is one host's way to a store.
type bentStore struct {
	*semeltest.FaultStore
	inner *memstore.Store
	mu    sync.Mutex
	check func(apply func() error) error // nil: checkpoints work
}

func (s *bentStore) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	s.mu.Lock()
	check := s.check
	s.mu.Unlock()
	apply := func() error {
		_, err := s.inner.Checkpoint(context.WithoutCancel(ctx), p) // it may come late
		return err
	}
	if check == nil {
		return semel.CheckpointResult{}, apply()
	}
	return semel.CheckpointResult{}, check(apply)
}

func (s *bentStore) onCheckpoint(check func(apply func() error) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check = check
}

// cut makes every call fail without a reply; heal ends it.
func (s *bentStore) cut() {
	for _, m := range []semeltest.Method{semeltest.Claim, semeltest.Renew, semeltest.Finish, semeltest.Read} {
		s.Always(m, semeltest.Fail(semel.ErrNoReply))
	}
	s.onCheckpoint(func(func() error) error { return semel.ErrNoReply })
}

// heal ends all faults but those that are for good.
func (h *host) heal() {
	h.store.Heal()
	h.store.onCheckpoint(nil)
	if h.breaks {
		h.store.onCheckpoint(func(func() error) error { return nil })
	}
}

func newStore(t testing.TB) *memstore.Store {
	t.Helper()
	store, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newHost(t *testing.T, book *ledger, store *memstore.Store, name string, layout idgen.Layout) *host {
	h := &host{t: t, name: name, book: book, store: &bentStore{FaultStore: semeltest.NewFaultStore(store), inner: store}}
	h.opts = idgen.Options{Layout: layout, Lease: lease, Now: h.now, MaxSkew: -1, Logger: slog.New(slog.DiscardHandler)}
	return h
}

func (h *host) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.off)
}

// step sets the wall clock.
func (h *host) step(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.off += d
}

// start starts a node on the host.
func (h *host) start() (err error) {
	h.node, err = idgen.NewNode(h.t.Context(), h.store, &h.opts)
	h.last = 0
	return err
}

func (h *host) mustStart() {
	h.t.Helper()
	if err := h.start(); err != nil {
		h.t.Fatalf("%s: %v", h.name, err)
	}
}

// next issues an id and writes it down: it is greater than the host's last one, and new.
func (h *host) next() (idgen.Snowflake, error) {
	h.t.Helper()
	id, err := h.node.Next(h.t.Context())
	if err != nil {
		return 0, err
	}
	if id <= h.last {
		h.t.Errorf("%s: %d after %d", h.name, id, h.last)
	}
	h.last = id
	h.book.write(id, h.name)
	return id, nil
}

func (h *host) mustIssue(n int) {
	h.t.Helper()
	for range n {
		if _, err := h.next(); err != nil {
			h.t.Fatalf("%s: %v", h.name, err)
		}
	}
}

func (h *host) mustClose() {
	h.t.Helper()
	if err := h.node.Close(h.t.Context()); err != nil {
		h.t.Errorf("%s: %v", h.name, err)
	}
}

// bury closes a node that may have lost its store.
func (h *host) bury() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.t.Context()), time.Second)
	defer cancel()
	_ = h.node.Close(ctx) // it counts what was left, as it should
}

func (l *ledger) mustBeClean(t *testing.T) {
	t.Helper()
	if l.twice > 0 {
		t.Errorf("%d ids came twice", l.twice)
	}
}
