package semel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// I11. Field faults: error on read lets the request through unguarded; an error
// of the store is taken for contention.
func TestStoreErrorFailsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, cause := range []error{errDown, semel.ErrStoreUnavailable, semel.ErrNoReply, semel.ErrStoreFull, &semel.RecordFormatError{Format: 9}} {
			w := newWorld(t, &semel.Options{Lease: lease})
			w.store.bend(func(s *faultStore) { s.claim = failClaims(cause) })
			_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) {
				t.Error("the work ran without a claim")
				return 0, nil
			})
			if !errors.Is(err, semel.ErrStoreUnavailable) || !errors.Is(err, cause) {
				t.Errorf("%v became %v", cause, err)
			}
			if unknown := errors.Is(cause, errDown); unknown && !errors.Is(err, semel.ErrNoReply) {
				t.Errorf("an error that no store documents must count as no reply; got %v", err)
			}
			w.mustClose(t)
		}
	})
}

// I5. Field fault: reply to a claim lost, client library re-sends, caller waits
// for its own claim and the work runs 0 times.
func TestLostClaimReplyIsRepeatedWithTheSameToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		calls := 0
		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				res, err := call()
				if calls++; calls < 3 {
					return semel.ClaimResult{}, errDown
				}
				return res, err
			}
		})
		res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil })
		if err != nil || res.Attempt != 1 || res.Replayed {
			t.Errorf("got %+v, %v", res, err)
		}
		w.mustClose(t)
	})
}

// I11. Field fault: store answers after the caller's deadline: orphan claim for
// the whole retention. Hard case 1.
func TestOrphanClaimIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
		late := make(chan struct{})
		w.store.bend(func(s *faultStore) {
			s.claim = func(ctx context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				go func() { <-late; _, _ = call() }() // on its way, past the caller's deadline
				<-ctx.Done()
				return semel.ClaimResult{}, ctx.Err()
			}
		})
		_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil })
		if !errors.Is(err, semel.ErrNoReply) {
			t.Fatalf("got %v", err)
		}
		time.Sleep(time.Second)
		close(late)
		synctest.Wait()
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateRunning {
			t.Fatalf("the late claim left %v", rec.State)
		}
		time.Sleep(2 * time.Second)
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateReleased {
			t.Errorf("the orphan is %v; under AtMostOnce its lapse would be a doubt with no run behind it", rec.State)
		}
		w.store.bend(func(s *faultStore) { s.claim = nil })
		res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 2, nil })
		if err != nil || res.Value != 2 {
			t.Errorf("the next caller got %+v, %v", res, err)
		}
		w.mustClose(t)
	})
}

func TestCallerWhoLeavesDuringTheClaimRunsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		ctx, leave := context.WithCancelCause(t.Context())
		w.store.bend(func(s *faultStore) {
			s.claim = func(ctx context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				leave(errDown)
				_, _ = call()
				return semel.ClaimResult{}, ctx.Err()
			}
		})
		if _, err := semel.Do(ctx, w.Engine, opFor(t), func(context.Context) (int, error) { t.Error("ran"); return 1, nil }); !errors.Is(err, errDown) {
			t.Errorf("got %v", err)
		}
		w.mustClose(t)
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateReleased {
			t.Errorf("the claim is %v", rec.State)
		}
	})
}

func TestFailOpenIsByNameAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{FailOpen: true, Lease: lease})
		w.store.bend(func(s *faultStore) { s.claim = failClaims(semel.ErrStoreUnavailable) })
		res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(ctx context.Context) (int, error) {
			if _, ok := semel.FenceFrom(ctx); ok {
				t.Error("an unguarded run has a fence")
			}
			return 1, nil
		})
		if err != nil || res.Value != 1 {
			t.Errorf("got %+v, %v", res, err)
		}
		if w.events.count(semel.EventUnguarded) != 1 || !strings.Contains(w.logs.String(), "unguarded") {
			t.Error("nobody was told")
		}
		w.mustClose(t)
	})
}

// I10. Field fault: saving fails after success: client told 500 and work runs twice.
func TestResultIsSavedInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		other := worldOn(t, &faultStore{inner: w.store.inner}, &semel.Options{Lease: lease})
		w.store.bend(func(s *faultStore) { s.finish = failFinishes(errDown) })
		op := opFor(t)
		res, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { return 1, nil })
		if err != nil || res.Value != 1 {
			t.Fatalf("the caller got %+v, %v; want its result", res, err)
		}
		if w.events.count(semel.EventSaveRetry) != 1 || !strings.Contains(w.logs.String(), "saving goes on in the background") {
			t.Error("nobody was told")
		}
		for range 10 { // renewals go on, so nobody else runs
			time.Sleep(lease / 2)
			if _, err := semel.Do(t.Context(), other.Engine, op, func(context.Context) (int, error) { t.Error("second run"); return 2, nil }); err == nil {
				t.Error("a duplicate got a result that is not saved")
			}
		}
		w.store.bend(func(s *faultStore) { s.finish = nil })
		time.Sleep(lease)
		res, err = semel.Do(t.Context(), other.Engine, op, func(context.Context) (int, error) { t.Error("second run"); return 2, nil })
		if err != nil || res.Value != 1 || w.events.count(semel.EventSaved) != 1 {
			t.Errorf("after the store came back: %+v, %v", res, err)
		}
		w.mustClose(t)
		other.mustClose(t)
	})
}

// A store that is back has the outcome soon, also under a long lease, and where it has
// not answered for a while but hung.
func TestResultIsSavedSoonUnderALongLease(t *testing.T) {
	hangs := func(ctx context.Context, _ semel.FinishParams, _ func() error) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, test := range map[string]struct {
		finish func(context.Context, semel.FinishParams, func() error) error
		within time.Duration
	}{
		"refused": {failFinishes(errDown), 5 * time.Second},
		"hung":    {hangs, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &semel.Options{Lease: 12 * time.Hour})
				w.store.bend(func(s *faultStore) { s.finish = test.finish })
				if _, err := semel.Do(t.Context(), w.Engine, opFor(t), one); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				w.store.bend(func(s *faultStore) { s.finish = nil })
				time.Sleep(test.within)
				if w.events.count(semel.EventSaved) != 1 {
					t.Errorf("not saved after %v", test.within)
				}
				w.mustClose(t)
			})
		})
	}
}

// A run that is given back late, when somebody else has taken over, has lost nothing, and
// nobody is alarmed.
func TestLateReleaseLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		run, _, err := w.Begin(t.Context(), opFor(t))
		if err != nil {
			t.Fatal(err)
		}
		w.store.bend(func(s *faultStore) { s.finish, s.renew = failFinishes(errDown), failRenewals(errDown) })
		if _, err := run.Finish(semel.Verdict{State: semel.StateReleased}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lease)
		other := worldOn(t, &faultStore{inner: w.store.inner}, &semel.Options{Lease: lease})
		if _, err := semel.Do(t.Context(), other.Engine, opFor(t), one); err != nil {
			t.Fatal(err)
		}
		w.store.bend(func(s *faultStore) { s.finish = nil })
		time.Sleep(lease)
		if lost, fenced := w.events.count(semel.EventSaveLost), w.events.count(semel.EventFenced); lost != 0 || fenced != 1 {
			t.Errorf("told: %d lost, %d fenced", lost, fenced)
		}
		w.mustClose(t)
		other.mustClose(t)
	})
}

// I5: no reply to a finish is answered by the same finish again.
func TestLostFinishReplyIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var calls atomic.Int32
		w.store.bend(func(s *faultStore) {
			s.finish = func(_ context.Context, _ semel.FinishParams, call func() error) error {
				err := call()
				if calls.Add(1) == 1 {
					return errDown
				}
				return err
			}
		})
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Error(err)
		}
		if w.events.count(semel.EventFinish) != 1 || w.events.count(semel.EventFenced) != 0 || calls.Load() != 2 {
			t.Errorf("%d finishes were sent, %d were fenced", calls.Load(), w.events.count(semel.EventFenced))
		}
		w.mustClose(t)
	})
}

// I12: what the store has no room for becomes a tombstone, and the work is not
// run again.
func TestFullStoreKeepsATombstone(t *testing.T) {
	w := newWorld(t, nil)
	w.store.bend(func(s *faultStore) {
		s.finish = func(_ context.Context, p semel.FinishParams, call func() error) error {
			if p.Result.Kind != semel.ResultTombstone {
				return semel.ErrStoreFull
			}
			return call()
		}
	})
	if _, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Error(err)
	}
	_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { t.Error("second run"); return 1, nil })
	if _, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok {
		t.Errorf("got %v", err)
	}
	w.mustClose(t)
}

// I10: Close waits for pending saves and counts what is left. I17: no goroutine
// is left (the bubble would say so).
func TestCloseCountsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Wait: time.Minute})
		w.store.bend(func(s *faultStore) {
			s.finish = func(ctx context.Context, _ semel.FinishParams, _ func() error) error {
				<-ctx.Done()
				return ctx.Err()
			}
		})
		if _, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Fatal(err)
		}
		held, _, err := w.Begin(t.Context(), semel.Op{Key: keyFor(t, "held"), Input: semel.NoInput})
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() {
			_, _, err := w.Begin(t.Context(), semel.Op{Key: keyFor(t, "held"), Input: semel.NoInput})
			waiting <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = w.Close(ctx)
		if err == nil || !strings.Contains(err.Error(), "1 runs under way, 1 results") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		if err := <-waiting; !errors.Is(err, semel.ErrClosed) {
			t.Errorf("the waiter got %v", err)
		}
		if _, _, err := w.Begin(t.Context(), opFor(t)); !errors.Is(err, semel.ErrClosed) {
			t.Errorf("Begin after Close: %v", err)
		}
		if w.events.count(semel.EventSaveLost) != 1 || !strings.Contains(w.logs.String(), "the outcome is lost") {
			t.Error("nobody was told of the lost result")
		}
		w.store.bend(func(s *faultStore) { s.finish = nil })
		_, _ = held.Finish(semel.Verdict{State: semel.StateReleased})
		if err := w.Close(t.Context()); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}

func TestCloseWaitsForRunsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		run, _, err := w.Begin(t.Context(), opFor(t))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(3 * lease)
			if _, err := run.Finish(semel.Verdict{State: semel.StateDone}); err != nil {
				t.Error("the lease was not renewed during Close:", err)
			}
		}()
		w.mustClose(t)
		if rec := w.read(t, keyFor(t)); rec.State != semel.StateDone {
			t.Errorf("the record is %v", rec.State)
		}
	})
}

// Canary: keys, principals and inputs reach no log and no event.
func TestLogsCarryNoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
		op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "canary-principal", Operation: "charge"}, "canary-key"), Input: semel.InputString("canary-input")}
		w.store.bend(func(s *faultStore) { s.finish, s.renew = failFinishes(errDown), failRenewals(errDown) })
		_, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { time.Sleep(2 * lease); return 0, errDown })
		w.store.bend(func(s *faultStore) { s.finish = nil })
		time.Sleep(lease)
		_, err2 := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { return 0, nil })
		w.mustClose(t)
		all := w.logs.String() + err.Error() + err2.Error()
		if !strings.Contains(all, op.Key.ID().Short()) {
			t.Error("the logs do not name the key's short hash")
		}
		if strings.Contains(all, "canary") || strings.Contains(all, op.Key.ID().String()) {
			t.Errorf("a canary got out:\n%s", all)
		}
	})
}

// A detached run outlives its caller, keeps his values and his deadline; a caller
// who leaves while he waits is let go.
func TestDetachedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Wait: time.Minute})
		op := opFor(t)
		op.Detached = true
		type value struct{}
		caller, leave := context.WithCancel(context.WithValue(t.Context(), value{}, 1))
		run, _, err := w.Begin(caller, op)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		synctest.Wait()
		if ctx := run.Context(); ctx.Err() != nil || ctx.Value(value{}) != 1 {
			t.Errorf("the run's context: %v", ctx.Err())
		}
		waiter, leaveWith := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { leaveWith(errDown) })
		begin := time.Now()
		if _, _, err := w.Begin(waiter, op); !errors.Is(err, errDown) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		_, _ = run.Finish(semel.Verdict{State: semel.StateReleased})

		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		run, _, err = w.Begin(limited, op)
		if err != nil {
			t.Fatal(err)
		}
		<-run.Context().Done()
		if err := run.Context().Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("past the deadline: %v", err)
		}
		_, _ = run.Finish(semel.Verdict{State: semel.StateReleased})
		w.mustClose(t)
	})
}
