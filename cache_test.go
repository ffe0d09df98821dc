package semel_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// claims counts the claims that reached the store.
func (s *faultStore) claimCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.claims)
}

// I19: replays of done records need no store.
func TestCacheReplaysWithoutTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Cache: 1 << 20})
		value := []byte("result")
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) ([]byte, error) { return value, nil }); err != nil {
			t.Fatal(err)
		}
		w.store.bend(func(s *faultStore) { s.claim = failClaims(errDown) })
		for range 3 {
			res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) ([]byte, error) { t.Error("ran"); return nil, nil })
			if err != nil || !res.Replayed || !bytes.Equal(res.Value, value) || res.Attempt != 1 || res.Fence == 0 {
				t.Errorf("got %+v, %v", res, err)
			}
		}
		if w.store.claimCount() != 1 || w.events.count(semel.EventReplay) != 3 {
			t.Errorf("%d claims, %d replays", w.store.claimCount(), w.events.count(semel.EventReplay))
		}
		// I6: the fingerprint is checked there too.
		other := opFor(t)
		other.Input = semel.InputString("11 EUR")
		_, err := semel.Do(t.Context(), w.Engine, other, one)
		if _, ok := errors.AsType[*semel.MismatchError](err); !ok {
			t.Errorf("another input got %v from the cache", err)
		}
		w.mustClose(t)
	})
}

// An operator's delete is honoured within CacheTTL, and an expiry at once.
func TestCacheForgetsInTime(t *testing.T) {
	for name, tt := range map[string]struct {
		retention, ttl, bound time.Duration
		delete                bool
	}{
		"deleted": {24 * time.Hour, 3 * time.Second, 3 * time.Second, true},
		"expired": {2 * time.Second, time.Hour, 2 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &semel.Options{Cache: 1 << 20, CacheTTL: tt.ttl, Retention: tt.retention, Lease: time.Second, ClaimTimeout: time.Second / 2})
				op, runs := opFor(t), 0
				work := func(context.Context) (int, error) { runs++; return runs, nil }
				for range 2 {
					if res, err := semel.Do(t.Context(), w.Engine, op, work); err != nil || res.Value != 1 {
						t.Fatal(res, err)
					}
				}
				if tt.delete {
					rec := w.read(t, op.Key)
					res, err := w.store.Resolve(t.Context(), semel.ResolveParams{Key: op.Key.ID(), Token: semel.NewToken(), Fence: rec.Fence, Resolution: semel.ResolveDelete})
					if err != nil || !res.Resolved {
						t.Fatal(res, err)
					}
				}
				time.Sleep(tt.bound)
				if res, err := semel.Do(t.Context(), w.Engine, op, work); err != nil || res.Value != 2 {
					t.Errorf("after the bound: %+v, %v; want a new run", res, err)
				}
				w.mustClose(t)
			})
		})
	}
}

func TestCacheKeepsOnlyDoneRecordsAndItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Cache: 10 << 10})
		op := opFor(t)
		for range 2 { // released and running records are never kept
			_, _ = semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { return 0, errDown })
		}
		before := w.store.claimCount()
		if before != 2 {
			t.Errorf("%d claims for two released runs", before)
		}
		key := func(i int) semel.Op {
			return semel.Op{Key: keyFor(t, strings.Repeat("x", i+1)), Input: semel.NoInput}
		}
		big := func(context.Context) (string, error) { return strings.Repeat("v", 1<<10), nil }
		for i := range 20 {
			_, _ = semel.Do(t.Context(), w.Engine, key(i), big)
		}
		before = w.store.claimCount()
		for i := range 20 {
			_, _ = semel.Do(t.Context(), w.Engine, key(19-i), big)
			want := max(0, i+1-6)
			if asked := w.store.claimCount() - before; asked != want {
				t.Fatalf("the store was asked %d times for the newest %d records of 1.5 KiB; a cache of 10 KiB holds the newest 6", asked, i+1)
			}
		}
		w.mustClose(t)
	})
}

// Exactly one caller of many is the first, also when a reply is lost.
func TestFirstTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var lost sync.Map
		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, p semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				res, err := call()
				if _, again := lost.LoadOrStore(p.Token, true); !again {
					return semel.ClaimResult{}, errDown
				}
				return res, err
			}
		})
		var first atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				ok, err := semel.FirstTime(t.Context(), w.Engine, keyFor(t), time.Minute)
				if err != nil {
					t.Error(err)
				}
				if ok {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if first.Load() != 1 {
			t.Errorf("%d callers were the first", first.Load())
		}
		time.Sleep(time.Minute)
		if ok, err := semel.FirstTime(t.Context(), w.Engine, keyFor(t), semel.Forever); !ok || err != nil {
			t.Error("after ttl the key is not new:", ok, err)
		}
		time.Sleep(1000 * time.Hour)
		if ok, err := semel.FirstTime(t.Context(), w.Engine, keyFor(t), time.Minute); ok || err != nil {
			t.Error("Forever ended:", ok, err)
		}
		w.mustClose(t)
	})
}

// Field fault: TTL below one second rounds to zero.
func TestFirstTimeRefusesAndFailsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		if _, err := semel.FirstTime(t.Context(), w.Engine, keyFor(t), time.Millisecond); err == nil || !strings.Contains(err.Error(), "1s or more") {
			t.Error(err)
		}
		if _, err := semel.FirstTime(t.Context(), w.Engine, semel.Key{}, time.Minute); err == nil {
			t.Error("the zero key was taken")
		}
		w.store.bend(func(s *faultStore) { s.claim = failClaims(errDown) })
		if ok, err := semel.FirstTime(t.Context(), w.Engine, keyFor(t), time.Minute); ok || !errors.Is(err, semel.ErrStoreUnavailable) {
			t.Error(ok, err)
		}
		w.mustClose(t)
		if _, err := semel.FirstTime(t.Context(), w.Engine, keyFor(t), time.Minute); !errors.Is(err, semel.ErrClosed) {
			t.Error(err)
		}
	})
}
