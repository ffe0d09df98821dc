package idgen

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/integration/internal/backends"
)

const lease = 30 * time.Second

// cutStore is a way to a store that a test can cut.
type cutStore struct {
	backends.Store
	cut atomic.Bool
}

func (s *cutStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	return across(ctx, s, p, s.Store.Claim)
}

func (s *cutStore) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	return across(ctx, s, p, s.Store.Renew)
}

func (s *cutStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	return across(ctx, s, p, s.Store.Finish)
}

func (s *cutStore) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	return across(ctx, s, p, s.Store.Checkpoint)
}

func across[P, R any](ctx context.Context, s *cutStore, p P, call func(context.Context, P) (R, error)) (res R, err error) {
	if s.cut.Load() {
		return res, semel.ErrNoReply
	}
	return call(ctx, p)
}

// at starts a node on a host whose clock is off.
func at(t *testing.T, store semel.Store, off time.Duration) (*idgen.Node, error) {
	return idgen.NewNode(t.Context(), store, &idgen.Options{
		Layout: idgen.Layout{WorkerBits: 1}, Lease: lease, MaxSkew: -1, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(off) },
	})
}

func mustBeAt(t *testing.T, store semel.Store, off time.Duration) *idgen.Node {
	t.Helper()
	node, err := at(t, store, off)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func mustIssue(t *testing.T, node *idgen.Node, n int) (ids []idgen.Snowflake) {
	t.Helper()
	for range n {
		id, err := node.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// TestHorizonOutlivesItsHolder: on every store the next holder of a worker id learns up
// to when the last one may have issued ids, whether that one closed, was killed, or only
// seems dead; and it is refused while its clock is behind that.
func TestHorizonOutlivesItsHolder(t *testing.T) {
	t.Parallel()
	for _, b := range backends.Leased() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			dsn := b.Database(t)
			store := b.OpenFor(t, dsn)
			way := &cutStore{Store: b.OpenFor(t, dsn).Store}
			other := mustBeAt(t, store.Store, 0)
			first := mustBeAt(t, way, time.Hour)
			taken, ok := errors.AsType[*idgen.WorkersError](errorOf(at(t, store.Store, 0)))
			if !ok || taken.Workers != 2 {
				t.Errorf("a third node got %v", taken)
			}
			ids := mustIssue(t, first, 100)
			mustClose(t, first)
			refused(t, store.Store)

			first = mustBeAt(t, way, time.Hour) // with its own clock it may go on
			worker := first.Worker()
			ids = append(ids, mustIssue(t, first, 100)...)
			way.cut.Store(true) // from now on it reaches nobody
			pass(t, store)
			refused(t, store.Store)
			next := mustBeAt(t, store.Store, 2*time.Hour)
			if next.Worker() != worker {
				t.Errorf("worker %d died, and the next node got %d", worker, next.Worker())
			}
			for range 100 {
				ids = append(ids, mustIssue(t, next, 1)[0])
				if id, err := first.Next(t.Context()); err == nil {
					ids = append(ids, id)
				}
			}
			differ(t, append(ids, mustIssue(t, other, 100)...))
			way.cut.Store(false)
			mustClose(t, first)
			mustClose(t, next)
			mustClose(t, other)
		})
	}
}

func errorOf(_ *idgen.Node, err error) error { return err }

// refused: the next holder's clock is right, and an hour behind what was issued.
func refused(t *testing.T, store semel.Store) {
	t.Helper()
	clock, ok := errors.AsType[*idgen.ClockError](errorOf(at(t, store, 0)))
	if !ok || clock.Behind < 59*time.Minute || clock.Behind > 61*time.Minute {
		t.Errorf("a node whose clock is an hour behind the last id: %v", clock)
	}
}

// pass lets the lease of the worker id go by that was taken last.
func pass(t *testing.T, store *backends.Handle) {
	t.Helper()
	list, err := store.Store.List(t.Context(), semel.ListParams{State: semel.StateRunning, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var youngest semel.Record
	for _, rec := range list.Records {
		if rec.Fence > youngest.Fence {
			youngest = rec
		}
	}
	if err := store.Pass(t.Context(), lease+time.Second, false, youngest.Key); err != nil {
		t.Fatal(err)
	}
}

func mustClose(t *testing.T, node *idgen.Node) {
	t.Helper()
	if err := node.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func differ(t *testing.T, ids []idgen.Snowflake) {
	t.Helper()
	seen := make(map[idgen.Snowflake]bool)
	for _, id := range ids {
		if seen[id] {
			t.Errorf("%d came twice", id)
		}
		seen[id] = true
	}
}
