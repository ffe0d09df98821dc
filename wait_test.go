package semel_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// waitWorlds are engines with and without a store that tells of changes.
func waitWorlds(t *testing.T, test func(t *testing.T, e *semel.Engine)) {
	opts := &semel.Options{Wait: time.Minute, Lease: lease}
	t.Run("told by the store", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			mem, err := memstore.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			e, err := semel.New(mem, opts)
			if err != nil {
				t.Fatal(err)
			}
			test(t, e)
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("polling", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, opts)
			test(t, w.Engine)
			w.mustClose(t)
		})
	})
}

func TestWaiterReplaysTheResult(t *testing.T) {
	waitWorlds(t, func(t *testing.T, e *semel.Engine) {
		op := opFor(t)
		var wg sync.WaitGroup
		started := make(chan struct{})
		wg.Go(func() {
			_, _ = semel.Do(t.Context(), e, op, func(context.Context) (string, error) { close(started); time.Sleep(3 * time.Second); return "won", nil })
		})
		<-started
		begin := time.Now()
		res, err := semel.Do(t.Context(), e, op, func(context.Context) (string, error) { return "ran", nil })
		if err != nil || res.Value != "won" || !res.Replayed {
			t.Errorf("got %+v, %v", res, err)
		}
		if waited := time.Since(begin); waited > 3*time.Second+time.Millisecond {
			t.Errorf("waited %v for a result that was there after 3s", waited)
		}
		wg.Wait()
	})
}

// I16: after a release exactly one waiter claims, the rest wait on.
func TestOneWaiterTakesAReleasedRecord(t *testing.T) {
	waitWorlds(t, func(t *testing.T, e *semel.Engine) {
		op := opFor(t)
		var runs, live atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				res, err := semel.Do(t.Context(), e, op, func(context.Context) (int32, error) {
					if live.Add(1) > 1 {
						t.Error("two live owners")
					}
					defer live.Add(-1)
					time.Sleep(time.Second)
					if n := runs.Add(1); n < 3 {
						return 0, semel.Retryable(errors.New("not yet"))
					}
					return 42, nil
				})
				if err == nil && res.Value != 42 {
					t.Errorf("got %+v", res)
				}
			})
		}
		wg.Wait()
		if runs.Load() != 3 {
			t.Errorf("%d runs, want two that were released and one that was recorded", runs.Load())
		}
	})
}

// I6: the fingerprint is checked for waiters too. I16: a waiter that loses
// patience deletes nothing.
func TestWaiterThatGivesUpLeavesTheRunAlone(t *testing.T) {
	waitWorlds(t, func(t *testing.T, e *semel.Engine) {
		op := opFor(t)
		var wg sync.WaitGroup
		started := make(chan struct{})
		wg.Go(func() {
			res, err := semel.Do(t.Context(), e, op, func(context.Context) (int, error) { close(started); time.Sleep(3 * lease); return 1, nil })
			if err != nil || res.Replayed {
				t.Errorf("the run got %+v, %v", res, err)
			}
		})
		<-started
		short := op
		short.Wait = 2 * time.Second
		begin := time.Now()
		_, err := semel.Do(t.Context(), e, short, func(context.Context) (int, error) { return 2, nil })
		if busy, ok := errors.AsType[*semel.InProgressError](err); !ok || busy.RetryAfter < time.Second || time.Since(begin) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		other := op
		other.Input = semel.InputString("11 EUR")
		_, err = semel.Do(t.Context(), e, other, func(context.Context) (int, error) { return 2, nil })
		if _, ok := errors.AsType[*semel.MismatchError](err); !ok {
			t.Errorf("another input while running got %v", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errDown)
		defer cancel()
		if _, err = semel.Do(ctx, e, op, func(context.Context) (int, error) { return 2, nil }); !errors.Is(err, errDown) {
			t.Errorf("a cancelled waiter got %v", err)
		}
		wg.Wait()
	})
}

// Options.Poll bounds the pauses of who is told nothing, and no two pauses are the same
// for long.
func TestPollIsBoundedAndSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const poll = 40 * time.Millisecond
		w := newWorld(t, &semel.Options{Wait: time.Minute, Lease: lease, Poll: poll})
		var asked []time.Time
		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				asked = append(asked, time.Now())
				return call()
			}
		})
		run, _, err := w.Begin(t.Context(), opFor(t))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Second, func() { _, _ = run.Finish(semel.Verdict{State: semel.StateReleased}) })
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Error(err)
		}
		pauses := make(map[time.Duration]bool)
		for i := range asked[5 : len(asked)-1] {
			d := asked[i+6].Sub(asked[i+5])
			if pauses[d] = true; d > poll || d < poll*3/4 && i+6 < len(asked)-1 {
				t.Errorf("a pause of %v", d)
			}
		}
		if len(pauses) < 20 {
			t.Errorf("%d different pauses in two seconds", len(pauses))
		}
		w.mustClose(t)
	})
}

// A lapse tells nobody; waiters notice it all the same.
func TestWaiterTakesOverALapsedRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Wait: time.Minute, Lease: lease})
		dead := worldOn(t, &faultStore{inner: w.store.inner, renew: failRenewals(errDown)}, &semel.Options{Lease: lease})
		run, _, err := dead.Begin(t.Context(), opFor(t))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil })
		if err != nil || res.Attempt != 2 || time.Since(begin) > lease+time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(begin), res, err)
		}
		if _, err := run.Finish(semel.Verdict{State: semel.StateReleased}); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("the dead owner's release got %v", err)
		}
		w.mustClose(t)
		dead.mustClose(t)
	})
}

// I16: at most 16 waiters a key and 1,024 a process.
func TestWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Wait: time.Minute})
		release := make(chan struct{})
		var full, crowded, replayed atomic.Int32
		var wg sync.WaitGroup
		for k := range 70 {
			op := semel.Op{Key: keyFor(t, string(rune('a'+k))), Input: semel.NoInput}
			wg.Go(func() {
				_, _ = semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { <-release; return 1, nil })
			})
			synctest.Wait()
			for range 17 {
				wg.Go(func() {
					_, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { return 2, nil })
					busy, ok := errors.AsType[*semel.InProgressError](err)
					switch {
					case err == nil:
						replayed.Add(1)
					case ok && errors.Is(busy, semel.ErrWaitersFull):
						full.Add(1)
					case ok:
						crowded.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			synctest.Wait()
		}
		close(release)
		wg.Wait()
		if replayed.Load() != 1024 || crowded.Load() != 63 || full.Load() != 70*17-1024-63 {
			t.Errorf("%d waited, %d met a full key, %d a full process", replayed.Load(), crowded.Load(), full.Load())
		}
		w.mustClose(t)
	})
}
