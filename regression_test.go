package semel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// A recovery whose claim got no reply knows nothing: giving it back must not end
// the doubt, or the next caller runs the work a second time.
func TestRecoveryWithoutReplyKeepsTheDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
		op, charges := opFor(t), 0
		work := func(context.Context) (int, error) { charges++; return 0, errors.New("no reply from the bank") }
		_, _ = semel.Do(t.Context(), w.Engine, op, work)
		before := w.read(t, op.Key)

		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				_, _ = call()
				return semel.ClaimResult{}, errDown
			}
		})
		_, err := semel.DoRecover(t.Context(), w.Engine, op, work, func(context.Context, semel.Recovery) semel.Recovered[int] {
			t.Error("the recovery ran without a claim")
			return semel.StillUnknown[int](nil)
		})
		if !errors.Is(err, semel.ErrNoReply) {
			t.Fatal(err)
		}
		w.store.bend(func(s *faultStore) { s.claim = nil })
		time.Sleep(2 * lease)
		rec := w.read(t, op.Key)
		if rec.State != semel.StateInDoubt || rec.Cause != before.Cause || !rec.Since.Equal(before.Since) {
			t.Errorf("the doubt became %v, cause %v since %v; want it as it was", rec.State, rec.Cause, rec.Since)
		}
		_, err = semel.Do(t.Context(), w.Engine, op, work)
		if _, ok := errors.AsType[*semel.InDoubtError](err); !ok || charges != 1 {
			t.Errorf("a plain call got %v after %d charges", err, charges)
		}
		w.mustClose(t)
	})
}

// I10, I12: a store that is down and then full keeps a tombstone in the end.
func TestStoreThatIsDownAndThenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		var calls atomic.Int32
		w.store.bend(func(s *faultStore) {
			s.finish = func(_ context.Context, p semel.FinishParams, call func() error) error {
				switch n := calls.Add(1); {
				case n <= 3:
					return errDown
				case p.Result.Kind != semel.ResultTombstone, n <= 6:
					return semel.ErrStoreFull
				}
				return call()
			}
		})
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), one); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lease)
		_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { t.Error("second run"); return 0, nil })
		if _, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok || w.events.count(semel.EventSaveLost) != 0 {
			t.Errorf("the retry got %v", err)
		}
		w.mustClose(t)
	})
}

// I9: a run that ends after Close gave up waiting is saved all the same.
func TestFinishAfterCloseGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		run, _, err := w.Begin(t.Context(), opFor(t))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Close(ctx); err == nil {
			t.Error("Close did not count the run")
		}
		if _, err := run.Finish(semel.Verdict{State: semel.StateDone}); err != nil {
			t.Error(err)
		}
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateDone {
			t.Errorf("the record is %v", rec.State)
		}
	})
}

type exits struct{}

func (exits) MarshalJSON() ([]byte, error) { runtime.Goexit(); return nil, nil }

// Goexit in a result's marshaller, or a panic in an observer, leaves no key held.
func TestRunEndsWhateverItsEndDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (exits, error) { return exits{}, nil })
		})
		wg.Wait()
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateReleased {
			t.Errorf("after Goexit the record is %v", rec.State)
		}
		w.mustClose(t)

		touchy, err := semel.New(w.store, &semel.Options{Observer: touchyObserver{}})
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = semel.Do(t.Context(), touchy, opFor(t), one)
		}()
		if err := touchy.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

type touchyObserver struct{}

func (touchyObserver) Observe(ev semel.Event) {
	if ev.Kind == semel.EventStoreCall && ev.Call == "finish" {
		panic("no")
	}
}

// A waiter whose running duplicate is known by a former fingerprint comes back
// with its current one.
func TestFormerFingerprintWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Wait: time.Minute})
		op := opFor(t)
		op.Input, op.Former = semel.InputString("v2"), []semel.Input{semel.InputString("v1"), semel.InputString("v0")}
		old := opFor(t)
		old.Input = semel.InputString("v1")
		run, _, err := w.Begin(t.Context(), old)
		if err != nil {
			t.Fatal(err)
		}
		result := make(chan error, 1)
		go func() {
			_, err := semel.Do(t.Context(), w.Engine, op, one)
			result <- err
		}()
		time.Sleep(time.Second)
		// The old record goes, and another process records the same request anew.
		w.store.bend(func(s *faultStore) {
			s.claim = func(context.Context, semel.ClaimParams, func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				return semel.ClaimResult{Outcome: semel.ClaimRunning, Record: semel.Record{LeaseLeft: time.Second}}, nil
			}
		})
		time.Sleep(time.Second)
		_, _ = run.Finish(semel.Verdict{State: semel.StateReleased})
		rec := w.read(t, op.Key)
		if _, err := w.store.Resolve(t.Context(), semel.ResolveParams{Key: op.Key.ID(), Token: semel.NewToken(), Fence: rec.Fence, Resolution: semel.ResolveDelete}); err != nil {
			t.Fatal(err)
		}
		fresh := opFor(t)
		fresh.Input = op.Input
		other := worldOn(t, &faultStore{inner: w.store.inner}, nil)
		if _, err := semel.Do(t.Context(), other.Engine, fresh, one); err != nil {
			t.Fatal(err)
		}
		w.store.bend(func(s *faultStore) { s.claim = nil })
		if err := <-result; err != nil {
			t.Errorf("the waiter got %v for the same input", err)
		}
		other.mustClose(t)
		w.mustClose(t)
	})
}

// I19: the cache never replays past the expiry in the store, whichever of several
// finishes it was that counted.
func TestCacheAfterALateFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Cache: 1 << 20, CacheTTL: time.Hour, Retention: 4 * time.Second, Lease: time.Second, ClaimTimeout: time.Second / 2})
		var calls atomic.Int32
		w.store.bend(func(s *faultStore) {
			s.finish = func(_ context.Context, _ semel.FinishParams, call func() error) error {
				err := call()
				if calls.Add(1) == 1 {
					time.Sleep(1500 * time.Millisecond)
					return errDown
				}
				return err
			}
		})
		runs := 0
		work := func(context.Context) (int, error) { runs++; time.Sleep(2 * time.Second); return runs, nil }
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), work); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			time.Sleep(100 * time.Millisecond)
			gone := w.read(t, keyFor(t)).State == semel.StateNone
			if res, err := semel.Do(t.Context(), w.Engine, opFor(t), work); gone && res.Replayed {
				t.Fatalf("replayed past the expiry: %+v, %v", res, err)
			} else if gone {
				break
			}
		}
		w.mustClose(t)
	})
}

// Nothing wakes a run all the time once its save is pending.
func TestPendingSaveSleepsBetweenTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(countingClock)
		w := newWorld(t, &semel.Options{Lease: lease, Clock: clock})
		w.store.bend(func(s *faultStore) { s.finish, s.renew = failFinishes(errDown), failRenewals(errDown) })
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), one); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lease) // past the local deadline
		before := clock.reads.Load()
		time.Sleep(lease)
		if n := clock.reads.Load() - before; n > 600 { // one for each of 400 ticks of the wheel, and some for the tries
			t.Errorf("%d reads of the clock in one lease", n)
		}
		w.store.bend(func(s *faultStore) { s.finish = nil })
		w.mustClose(t)
		if strings.Contains(w.logs.String(), "the handler is cancelled") {
			t.Error("a handler that had returned was cancelled")
		}
	})
}

// countingClock counts how often it is read.
type countingClock struct{ reads atomic.Int64 }

func (c *countingClock) Now() time.Time { c.reads.Add(1); return time.Now() }

func (c *countingClock) NewTimer(d time.Duration) semel.Timer { return realTimer{time.NewTimer(d)} }

type realTimer struct{ *time.Timer }

func (t realTimer) C() <-chan time.Time { return t.Timer.C }

// A release that was sent for a claim without a reply never ends a run that the
// same caller was given later: by waiting, or under a former fingerprint.
func TestReleaseOfALostClaimEndsNoLaterRun(t *testing.T) {
	loseOne := func(w *world) {
		lost := false
		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				if !lost {
					lost = true
					return semel.ClaimResult{}, errDown
				}
				return call()
			}
		})
	}
	begin := map[string]func(t *testing.T, w, other *world) *semel.Run{
		"waiting": func(t *testing.T, w, other *world) *semel.Run {
			held, _, err := other.Begin(t.Context(), opFor(t))
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { _, _ = held.Finish(semel.Verdict{State: semel.StateReleased}) })
			loseOne(w)
			op := opFor(t)
			op.Wait = time.Minute
			run, _, err := w.Begin(t.Context(), op)
			if err != nil {
				t.Fatal(err)
			}
			return run
		},
		"former": func(t *testing.T, w, other *world) *semel.Run {
			old := opFor(t)
			old.Input = semel.InputString("v1")
			held, _, err := other.Begin(t.Context(), old)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = held.Finish(semel.Verdict{State: semel.StateReleased})
			loseOne(w)
			op := opFor(t)
			op.Former = []semel.Input{old.Input}
			run, _, err := w.Begin(t.Context(), op)
			if err != nil {
				t.Fatal(err)
			}
			return run
		},
	}
	for name, begin := range begin {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
				other := worldOn(t, &faultStore{inner: w.store.inner}, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
				run := begin(t, w, other)
				for range 30 {
					time.Sleep(lease / 10)
					if rec := w.read(t, keyFor(t)); rec.State != semel.StateRunning || rec.Fence != run.Fence() {
						t.Fatalf("the record of a live run is %v", rec.State)
					}
				}
				if _, err := run.Finish(semel.Verdict{State: semel.StateDone}); err != nil {
					t.Error(err)
				}
				w.mustClose(t)
				other.mustClose(t)
			})
		})
	}
}
