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
)

const lease = 10 * time.Second

// Field fault: handler outlives the lease: two runs. I8: renewal goes on by
// itself however long the work takes.
func TestLongWorkKeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		other := worldOn(t, w.store, &semel.Options{Lease: lease})
		op := opFor(t)
		_, err := semel.Do(t.Context(), w.Engine, op, func(ctx context.Context) (int, error) {
			for range 20 {
				time.Sleep(lease / 2)
				if ctx.Err() != nil {
					t.Error("the handler was cancelled:", context.Cause(ctx))
				}
				_, err := semel.Do(t.Context(), other.Engine, op, func(context.Context) (int, error) {
					t.Error("two live owners")
					return 0, nil
				})
				if _, ok := errors.AsType[*semel.InProgressError](err); !ok {
					t.Error("a duplicate got", err)
				}
			}
			return 1, nil
		})
		if err != nil {
			t.Error(err)
		}
		if n := w.events.count(semel.EventRenew); n < 29 || n > 32 {
			t.Errorf("%d renewals in ten leases, want one each third", n)
		}
		w.mustClose(t)
		other.mustClose(t)
	})
}

// I7: the local deadline cancels AtLeastOnce with ErrLeaseLost, which matches
// ErrFenced only if the store said so. Field fault: the heartbeat ignores errors,
// or stops for good after one.
func TestLeaseThatCannotBeRenewed(t *testing.T) {
	for _, policy := range []semel.Policy{semel.AtLeastOnce, semel.AtMostOnce} {
		t.Run(policy.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &semel.Options{Lease: lease, Policy: policy})
				w.store.bend(func(s *faultStore) { s.renew = failRenewals(errDown) })
				start := time.Now()
				res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(ctx context.Context) (int, error) {
					select {
					case <-ctx.Done():
						if policy == semel.AtMostOnce {
							t.Error("nobody else may run, so the handler goes on")
						}
						cause := context.Cause(ctx)
						if !errors.Is(cause, semel.ErrLeaseLost) || errors.Is(cause, semel.ErrFenced) {
							t.Errorf("cancelled with cause %v", cause)
						}
						if late := time.Since(start) - lease*9/10; late < 0 || late > 50*time.Millisecond {
							t.Errorf("cancelled %v off the local deadline", late)
						}
					case <-time.After(3 * lease):
						if policy == semel.AtLeastOnce {
							t.Error("the handler was not cancelled")
						}
					}
					return 5, nil
				})
				if err != nil || res.Value != 5 {
					t.Errorf("nobody took over, so the owner's result counts; got %+v, %v", res, err)
				}
				w.mustClose(t)
			})
		})
	}
}

// deafClock is the clock of a process that was paused: time goes by, and no timer fires.
type deafClock struct{ now atomic.Int64 }

func (c *deafClock) Now() time.Time                   { return time.Unix(1_700_000_000, c.now.Load()) }
func (*deafClock) NewTimer(time.Duration) semel.Timer { return deafTimer{} }

type deafTimer struct{}

func (deafTimer) C() <-chan time.Time { return nil }
func (deafTimer) Stop() bool          { return true }

// I7. Who wakes from a pause can ask whether it still holds its lease before anything has
// told it.
func TestOwnerThatWasPausedKnowsThatItsLeaseIsLost(t *testing.T) {
	t.Parallel()
	clock := new(deafClock)
	for policy, want := range map[semel.Policy]error{semel.AtLeastOnce: semel.ErrLeaseLost, semel.AtMostOnce: nil} {
		w := newWorld(t, &semel.Options{Lease: lease, Policy: policy, Clock: clock})
		run, _, err := w.Begin(t.Context(), opFor(t))
		if err != nil {
			t.Fatal(err)
		}
		clock.now.Add(int64(lease*9/10) - 1)
		if err := run.Lost(); err != nil {
			t.Errorf("%v: lost a moment before the local deadline: %v", policy, err)
		}
		clock.now.Add(1)
		if err := run.Lost(); !errors.Is(err, want) || errors.Is(err, semel.ErrFenced) {
			t.Errorf("%v: lost at the local deadline: %v; want %v", policy, err, want)
		}
		if run.Context().Err() != nil {
			t.Errorf("%v: the context has ended, so the test shows nothing", policy)
		}
		if _, err := run.Finish(semel.Verdict{State: semel.StateReleased}); err != nil {
			t.Error(err)
		}
		w.mustClose(t)
	}
}

func TestRenewalRecoversFromErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		calls := 0
		w.store.bend(func(s *faultStore) {
			s.renew = func(_ context.Context, _ semel.RenewParams, call func() error) error {
				if calls++; calls%3 != 0 {
					return errDown
				}
				return call()
			}
		})
		_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(ctx context.Context) (int, error) {
			time.Sleep(10 * lease)
			return 0, ctx.Err()
		})
		if err != nil {
			t.Errorf("two failed renewals of three lost the lease: %v", err)
		}
		w.mustClose(t)
	})
}

// I8. Field fault: one scheduler thread for all heartbeats starves some.
func TestHungRenewalDelaysNoOtherKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease})
		hung := keyFor(t, "hung")
		w.store.bend(func(s *faultStore) {
			s.renew = func(ctx context.Context, p semel.RenewParams, call func() error) error {
				if p.Key == hung.ID() {
					sent := time.Now()
					<-ctx.Done()
					if d := time.Since(sent); d > lease/6 {
						t.Errorf("a renewal was given %v, want at most a sixth of the lease", d)
					}
					return ctx.Err()
				}
				return call()
			}
		})
		var wg sync.WaitGroup
		for _, key := range []semel.Key{hung, keyFor(t, "a"), keyFor(t, "b")} {
			wg.Go(func() {
				_, _ = semel.Do(t.Context(), w.Engine, semel.Op{Key: key, Input: semel.NoInput}, func(ctx context.Context) (int, error) {
					select {
					case <-ctx.Done():
						if key.ID() != hung.ID() {
							t.Error("a key lost its lease since another one's renewal hung")
						}
					case <-time.After(3 * lease):
					}
					return 0, nil
				})
			})
		}
		wg.Wait()
		w.mustClose(t)
	})
}

// takeOver makes the first owner go silent for longer than its lease while
// another process takes over and ends with second; it returns what the first
// owner's caller got.
func takeOver(t *testing.T, second func() (int, error)) (*world, semel.Result[int], error) {
	w := newWorld(t, &semel.Options{Lease: lease})
	other := worldOn(t, &faultStore{inner: w.store.inner}, &semel.Options{Lease: lease})
	w.store.bend(func(s *faultStore) { s.renew = failRenewals(errDown) })
	op := opFor(t)
	var wg sync.WaitGroup
	first, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) {
		time.Sleep(lease + time.Second)
		started := make(chan struct{})
		wg.Go(func() {
			_, _ = semel.Do(t.Context(), other.Engine, op, func(ctx context.Context) (int, error) {
				if run, _ := semel.RunFrom(ctx); run.Attempt() != 2 {
					t.Errorf("the takeover is attempt %d", run.Attempt())
				}
				close(started)
				return second()
			})
		})
		<-started
		synctest.Wait()
		return 1, nil
	})
	wg.Wait()
	other.mustClose(t)
	return w, first, err
}

// I4, hard case 6. Field fault: late owner completes or deletes the new owner's record.
func TestLateOwnerGetsTheWinnersResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, res, err := takeOver(t, func() (int, error) { return 2, nil })
		if err != nil || res.Value != 2 || !res.Replayed || res.Attempt != 2 {
			t.Errorf("the late owner's caller got %+v, %v; want the winner's result", res, err)
		}
		if rec := w.read(t, keyFor(t)); string(rec.Result.Data) != "2" {
			t.Errorf("the record holds %s", rec.Result.Data)
		}
		w.mustClose(t)
	})
}

func TestLateOwnerOfAnUnfinishedRunIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, err := takeOver(t, func() (int, error) { time.Sleep(time.Second); return 2, nil })
		if _, ok := errors.AsType[*semel.InProgressError](err); !ok || !errors.Is(err, semel.ErrFenced) {
			t.Errorf("got %v; want *InProgressError that matches ErrFenced", err)
		}
		w.mustClose(t)
	})
}

func TestOwnerIsToldThatItWasFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, Policy: semel.AtMostOnce})
		op := opFor(t)
		w.store.bend(func(s *faultStore) { s.renew = failRenewals(errDown) })
		_, err := semel.Do(t.Context(), w.Engine, op, func(ctx context.Context) (int, error) {
			time.Sleep(2 * lease)
			rec := w.read(t, op.Key)
			if rec.State != semel.StateInDoubt || rec.Cause != semel.CauseLapse {
				t.Errorf("a silent AtMostOnce run reads as %v (%v)", rec.State, rec.Cause)
			}
			_, err := w.store.Resolve(ctx, semel.ResolveParams{Key: op.Key.ID(), Token: semel.NewToken(), Fence: rec.Fence, Resolution: semel.ResolveDidNotHappen, Retention: time.Hour})
			if err != nil {
				t.Error(err)
			}
			w.store.bend(func(s *faultStore) { s.renew = nil })
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, semel.ErrFenced) || !errors.Is(cause, semel.ErrLeaseLost) {
				t.Errorf("cancelled with cause %v", cause)
			}
			if run, _ := semel.RunFrom(ctx); !errors.Is(run.Lost(), semel.ErrFenced) {
				t.Errorf("the run was lost by %v", run.Lost())
			}
			return 0, nil
		})
		if !errors.Is(err, semel.ErrFenced) {
			t.Errorf("got %v", err)
		}
		w.mustClose(t)
	})
}

// RELIABILITY.md: a lease can be born expired.
func TestLeaseBornExpiredIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &semel.Options{Lease: lease, ClaimTimeout: lease - time.Second})
		calls := 0
		w.store.bend(func(s *faultStore) {
			s.claim = func(_ context.Context, _ semel.ClaimParams, call func() (semel.ClaimResult, error)) (semel.ClaimResult, error) {
				res, err := call()
				if calls++; calls == 1 {
					res.Record.LeaseLeft = -time.Second
				}
				return res, err
			}
		})
		res, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 1, nil })
		if err != nil || res.Attempt != 1 || calls != 2 {
			t.Errorf("got %+v, %v after %d claims; want the same claim again", res, err, calls)
		}
		w.mustClose(t)
	})
}
