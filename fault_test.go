package semel_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// faultStore is a store whose methods a test can bend. Each hook gets the real
// call and may run it, answer for it, or both. It has no optional capability.
type faultStore struct {
	inner semel.Store

	mu     sync.Mutex
	claim  func(ctx context.Context, p semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error)
	renew  func(ctx context.Context, p semel.RenewParams, call func() error) error
	finish func(ctx context.Context, p semel.FinishParams, call func() error) error
	claims []semel.ClaimParams
	ends   []semel.FinishParams
}

func (s *faultStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	s.mu.Lock()
	s.claims = append(s.claims, p)
	hook := s.claim
	s.mu.Unlock()
	call := func() (semel.ClaimResult, error) { return s.inner.Claim(context.WithoutCancel(ctx), p) }
	if hook == nil {
		return call()
	}
	return hook(ctx, p, call)
}

func (s *faultStore) Renew(ctx context.Context, p semel.RenewParams) (res semel.RenewResult, err error) {
	s.mu.Lock()
	hook := s.renew
	s.mu.Unlock()
	call := func() (err error) {
		res, err = s.inner.Renew(context.WithoutCancel(ctx), p)
		return err
	}
	if hook == nil {
		return res, call()
	}
	return res, hook(ctx, p, call)
}

func (s *faultStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	s.mu.Lock()
	s.ends = append(s.ends, p)
	hook := s.finish
	s.mu.Unlock()
	call := func() error {
		_, err := s.inner.Finish(ctx, p)
		return err
	}
	if hook == nil {
		return semel.FinishResult{}, call()
	}
	return semel.FinishResult{}, hook(ctx, p, call)
}

func (s *faultStore) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	return s.inner.Read(ctx, p)
}

func (s *faultStore) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	return s.inner.Resolve(ctx, p)
}

func (s *faultStore) Guarantees(ctx context.Context, p semel.GuaranteesParams) (semel.Guarantees, error) {
	return s.inner.Guarantees(ctx, p)
}

// bend changes the hooks while calls go on.
func (s *faultStore) bend(f func(s *faultStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func failClaims(err error) func(context.Context, semel.ClaimParams, func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
	return func(context.Context, semel.ClaimParams, func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
		return semel.ClaimResult{}, err
	}
}

func failRenewals(err error) func(context.Context, semel.RenewParams, func() error) error {
	return func(context.Context, semel.RenewParams, func() error) error { return err }
}

func failFinishes(err error) func(context.Context, semel.FinishParams, func() error) error {
	return func(context.Context, semel.FinishParams, func() error) error { return err }
}

var errDown = errors.New("connection refused")

// world is one engine on one store, with what it said.
type world struct {
	*semel.Engine
	store  *faultStore
	logs   *syncBuffer
	events *recorder
}

// newWorld returns an engine on a bent memory store; opts may be nil. The test
// fails unless the engine closes with nothing left.
func newWorld(t *testing.T, opts *semel.Options) *world {
	t.Helper()
	mem, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return worldOn(t, &faultStore{inner: mem}, opts)
}

// worldOn is a second process on the store of another world.
func worldOn(t *testing.T, store *faultStore, opts *semel.Options) *world {
	t.Helper()
	w := &world{store: store, logs: new(syncBuffer), events: new(recorder)}
	o := semel.Options{}
	if opts != nil {
		o = *opts
	}
	o.Logger = slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Observer = w.events
	e, err := semel.New(store, &o)
	if err != nil {
		t.Fatal(err)
	}
	w.Engine = e
	return w
}

func (w *world) mustClose(t *testing.T) {
	t.Helper()
	if err := w.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// read returns the record of key as the store has it.
func (w *world) read(t *testing.T, key semel.Key) semel.Record {
	t.Helper()
	rec, err := w.store.Read(t.Context(), semel.ReadParams{Key: key.ID()})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// recorder keeps the events.
type recorder struct {
	mu     sync.Mutex
	events []semel.Event
}

func (r *recorder) Observe(ev semel.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, ev)
}

func (r *recorder) count(kind semel.EventKind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, ev := range r.events {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// key is a key of its own for each test.
func keyFor(t *testing.T, parts ...string) semel.Key {
	return semel.KeyOf(semel.Scope{Principal: t.Name(), Operation: "charge"}, append(parts, "k")...)
}

func opFor(t *testing.T) semel.Op {
	return semel.Op{Key: keyFor(t), Input: semel.InputString("10 EUR")}
}
