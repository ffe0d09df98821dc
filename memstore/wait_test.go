package memstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// running claims a key and returns what to wait for.
func running(t *testing.T, store *memstore.Store) (semel.ClaimParams, semel.WaitParams) {
	t.Helper()
	p := claimOf(randomKey(0))
	res, err := store.Claim(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return p, semel.WaitParams{Key: p.Key, Fence: res.Record.Fence}
}

// A lapse is written nowhere, and yet who waits for the run must learn of it.
func TestWaitEndsWhenTheLeaseLapses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t, nil)
		p, running := running(t, store)
		began := time.Now()
		if _, err := store.WaitChange(t.Context(), running); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited != p.Lease {
			t.Errorf("waited %v, want the lease, %v", waited, p.Lease)
		}
	})
}

// All who wait are woken by whatever ends the run that they wait for, and nobody
// is remembered afterwards.
func TestWaitersAreWokenAndForgotten(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(context.Context, *memstore.Store, semel.ClaimParams, semel.Fence) error{
		"finish": func(ctx context.Context, s *memstore.Store, p semel.ClaimParams, _ semel.Fence) error {
			_, err := s.Finish(ctx, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateDone, Retention: p.Retention})
			return err
		},
		"takeover": func(ctx context.Context, s *memstore.Store, p semel.ClaimParams, _ semel.Fence) error {
			p.Token = semel.NewToken()
			_, err := s.Claim(ctx, p)
			return err
		},
		"deletion": func(ctx context.Context, s *memstore.Store, p semel.ClaimParams, fence semel.Fence) error {
			_, err := s.Resolve(ctx, semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDelete})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				store := newStore(t, &memstore.Options{Now: func() time.Time { return now }})
				p, running := running(t, store)
				woken := make(chan error, 3)
				for range cap(woken) {
					go func() {
						_, err := store.WaitChange(t.Context(), running)
						woken <- err
					}()
				}
				synctest.Wait()
				now = now.Add(2 * p.Lease)
				began := time.Now()
				if err := change(t.Context(), store, p, running.Fence); err != nil {
					t.Fatal(err)
				}
				for range cap(woken) {
					if err := <-woken; err != nil {
						t.Error(err)
					}
				}
				if time.Since(began) != 0 || store.Waiting() != 0 {
					t.Errorf("woken after %v, %d keys are still waited for", time.Since(began), store.Waiting())
				}
			})
		})
	}
}

func TestWaitersWhoGiveUpAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t, nil)
		_, running := running(t, store)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := store.WaitChange(ctx, running); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that was given up: %v; want the context's error", err)
		}
		if store.Waiting() != 0 {
			t.Errorf("%d keys are still waited for", store.Waiting())
		}
	})
}
