package lock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semeltest"
)

const lease = 10 * time.Second

var errDown = errors.New("connection refused")

// process is a locker as one process has it, on a store that the test can bend.
type process struct {
	*lock.Leased
	store *semeltest.FaultStore
	logs  *bytes.Buffer
}

func newStore(t *testing.T) *memstore.Store {
	t.Helper()
	store, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// start is a new process on a store; it waits by polling. The test fails unless it
// closes with nothing left.
func start(t *testing.T, store semel.Store) *process {
	t.Helper()
	p := &process{store: semeltest.NewFaultStore(store), logs: new(bytes.Buffer)}
	p.Leased = newLeased(t, p.store, &lock.Config{Lease: lease, Logger: slog.New(slog.NewTextHandler(p.logs, nil))})
	return p
}

func newLeased(t *testing.T, store semel.Store, config *lock.Config) *lock.Leased {
	t.Helper()
	l, err := lock.New(store, config)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustClose(t *testing.T, all ...interface{ Close(context.Context) error }) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble
	defer cancel()
	for _, l := range all {
		if err := l.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

func mustAcquire(t *testing.T, l lock.Locker, name string) *lock.Held {
	t.Helper()
	held, err := l.Acquire(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func mustRelease(t *testing.T, held *lock.Held) {
	t.Helper()
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}

// room notes who is inside, by the view of those who are.
type room struct {
	t *testing.T

	mu     sync.Mutex
	inside int
	fences []semel.Fence // in the order of entry
}

func (r *room) enter(fence semel.Fence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside++; r.inside > 1 {
		r.t.Error("two are inside")
	}
	if n := len(r.fences); n > 0 && r.fences[n-1] >= fence {
		r.t.Errorf("fence %d entered after %d", fence, r.fences[n-1])
	}
	r.fences = append(r.fences, fence)
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside--
}

// visit stays inside for a while.
func (r *room) visit(stay time.Duration) func(context.Context, semel.Fence) error {
	return func(_ context.Context, fence semel.Fence) error {
		r.enter(fence)
		defer r.leave()
		<-time.After(stay)
		return nil
	}
}

func (r *room) visits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.fences)
}
