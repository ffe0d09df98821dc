package semel_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// A claim without a reply may arrive after its run was released: then it must not
// hold the key for anybody. Hard case 1.
func TestLateTwinOfAReleasedRunIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
		late, first := make(chan struct{}), true
		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				if first {
					first = false
					go func() { <-late; _, _ = call() }()
					return semel.ClaimResult{}, errDown
				}
				return call()
			}
		})
		_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 0, semel.Retryable(errDown) })
		if !errors.Is(err, errDown) {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		close(late)
		synctest.Wait()
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateRunning {
			t.Fatalf("the twin left %v", rec.State)
		}
		time.Sleep(lease / 3)
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateReleased {
			t.Errorf("the twin's claim is %v; nobody runs under it", rec.State)
		}
		w.mustClose(t)
	})
}

// A slow store loses many claims at once. Giving them back is no load that keeps it
// slow: however many there are, the repetitions come at a bounded rate.
func TestReleasesOfManyLostClaimsArePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.store.claim = failClaims(semel.ErrNoReply)
		const lost = 2000
		var callers sync.WaitGroup
		for i := range lost {
			callers.Go(func() { w.loseClaim(t, strconv.Itoa(i)) })
		}
		callers.Wait()
		time.Sleep(10 * time.Second)
		w.store.bend(func(s *faultStore) {
			if n := len(s.ends); n > lost+10*1000+lost {
				t.Errorf("%d releases in 10 s; want each at once and then 1,000 a second", n)
			}
		})
		w.mustClose(t)
	})
}

// loseClaim has a claim without a reply, which the engine releases in the background.
func (w *world) loseClaim(t *testing.T, key string) {
	op := semel.Op{Key: keyFor(t, key), Input: semel.NoInput}
	if _, _, err := w.Begin(t.Context(), op); !errors.Is(err, semel.ErrNoReply) {
		t.Errorf("claim %s: %v; want ErrNoReply", key, err)
	}
}

// releases is how often the claim of a key was sent back.
func (w *world) releases(t *testing.T, key string) (n int) {
	w.store.bend(func(s *faultStore) {
		for _, f := range s.ends {
			if f.Key == keyFor(t, key).ID() {
				n++
			}
		}
	})
	return n
}

// Releases that got through do not slow down one that has not.
func TestReleasesThatGotThroughAreNotPaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.store.claim = failClaims(semel.ErrNoReply)
		var callers sync.WaitGroup
		for i := range 2000 {
			callers.Go(func() { w.loseClaim(t, strconv.Itoa(i)) })
		}
		callers.Wait()
		time.Sleep(time.Second)
		w.store.bend(func(s *faultStore) { s.finish = failFinishes(errDown) })
		w.loseClaim(t, "late")
		time.Sleep(100 * time.Millisecond)
		if n := w.releases(t, "late"); n < 2 {
			t.Errorf("%d tries in 100 ms", n)
		}
		w.store.bend(func(s *faultStore) { s.finish = nil })
		w.mustClose(t)
	})
}

// A store that is back gets the release soon, also under a long lease.
func TestReleaseIsSentSoonUnderALongLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: 12 * time.Hour})
		w.store.claim = failClaims(semel.ErrNoReply)
		w.store.bend(func(s *faultStore) { s.finish = failFinishes(errDown) })
		w.loseClaim(t, "k")
		time.Sleep(time.Hour)
		w.store.bend(func(s *faultStore) { s.finish = nil })
		before := w.releases(t, "k")
		time.Sleep(5 * time.Second)
		if w.releases(t, "k") == before {
			t.Error("nothing for 5 s")
		}
		w.mustClose(t)
	})
}
