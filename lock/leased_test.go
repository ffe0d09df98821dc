package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semeltest"
)

// processes runs a test with two processes on one store.
func processes(t *testing.T, test func(t *testing.T, store *memstore.Store, a, b *process)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		a, b := start(t, store), start(t, store)
		test(t, store, a, b)
		mustClose(t, a, b)
	})
}

// recordOf reads the record of the lock "n".
func recordOf(t *testing.T, store semel.Store, l *lock.Leased) semel.Record {
	t.Helper()
	rec, err := store.Read(t.Context(), semel.ReadParams{Key: l.Key("n").ID()})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// I2, I7: the holder is cancelled before anybody else enters. Field faults: the handler
// outlives the lease; a late owner deletes the new owner's record.
func TestHolderIsCancelledBeforeTheNextEnters(t *testing.T) {
	processes(t, func(t *testing.T, store *memstore.Store, a, b *process) {
		a.store.Always(semeltest.Renew, semeltest.Fail(errDown))
		var other sync.WaitGroup
		var next *lock.Held
		began := time.Now()
		err := lock.Do(t.Context(), a, "n", nil, func(ctx context.Context, fence semel.Fence) error {
			other.Go(func() {
				next = mustAcquire(t, b, "n")
				if ctx.Err() == nil {
					t.Error("somebody entered before the holder was cancelled")
				}
				if next.Fence() <= fence {
					t.Errorf("fence %d after %d", next.Fence(), fence)
				}
			})
			<-ctx.Done()
			if d := time.Since(began) - lease*9/10; d < 0 || d > 50*time.Millisecond {
				t.Errorf("cancelled %v off the local deadline", d)
			}
			if cause := context.Cause(ctx); !errors.Is(cause, semel.ErrLeaseLost) || errors.Is(cause, semel.ErrFenced) {
				t.Errorf("cancelled with cause %v", cause)
			}
			other.Wait()
			return nil
		})
		lost, ok := errors.AsType[*lock.LostError](err)
		if !ok || !errors.Is(err, semel.ErrFenced) || lost.Err != nil {
			t.Errorf("the late holder got %v; want a *LostError that matches ErrFenced", err)
		}
		if rec := recordOf(t, store, b.Leased); rec.State != semel.StateRunning || rec.Fence <= lost.Fence {
			t.Errorf("after the late release the record is %v with fence %d; want the new owner's", rec.State, rec.Fence)
		}
		mustRelease(t, next)
	})
}

// The holder's error and the loss come together.
func TestLostLockAndFailedWork(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		a.store.Always(semeltest.Renew, semeltest.Fail(errDown))
		errWork := errors.New("disk full")
		err := lock.Do(t.Context(), a, "n", nil, func(ctx context.Context, _ semel.Fence) error {
			<-ctx.Done()
			return errWork
		})
		if lost, ok := errors.AsType[*lock.LostError](err); !ok || lost.Err != errWork || !errors.Is(err, errWork) || !errors.Is(err, semel.ErrLeaseLost) || errors.Is(err, semel.ErrFenced) {
			t.Errorf("got %v", err)
		}
		mustRelease(t, mustAcquire(t, b, "n")) // it was released all the same
	})
}

// A process that was paused learns of the loss at once, and again when the store says
// whose the lock is.
func TestLostByTheStoresWord(t *testing.T) {
	processes(t, func(t *testing.T, store *memstore.Store, a, _ *process) {
		held := mustAcquire(t, a, "n")
		p := semel.ResolveParams{Key: a.Key("n").ID(), Token: semel.NewToken(), Fence: held.Fence(), Resolution: semel.ResolveDelete}
		a.store.Always(semeltest.Renew, semeltest.Fail(errDown))
		time.Sleep(lease + time.Second)
		if res, err := store.Resolve(t.Context(), p); err != nil || !res.Resolved { // an operator takes it away
			t.Fatal(res, err)
		}
		if err := held.Lost(); !errors.Is(err, semel.ErrLeaseLost) {
			t.Errorf("lost: %v", err)
		}
		if err := held.Release(); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("release: %v", err)
		}
		if err := held.Release(); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("release again: %v", err)
		}
	})
}

// Long work keeps its lock. I8.
func TestLongWorkKeepsItsLock(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		err := lock.Do(t.Context(), a, "n", nil, func(ctx context.Context, _ semel.Fence) error {
			for range 20 {
				time.Sleep(lease / 2)
				if err := lock.TryDo(t.Context(), b, "n", nil, func(context.Context, semel.Fence) error { return nil }); !errors.Is(err, lock.ErrNotAcquired) {
					t.Error("two inside:", err)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The turn of this process does not stay with a holder who has lost its lease and does
// not notice.
func TestALostLeaseGivesTheTurnAway(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, _ *process) {
		a.store.Always(semeltest.Renew, semeltest.Fail(errDown))
		deaf := mustAcquire(t, a, "n")
		began := time.Now()
		next := mustAcquire(t, a, "n")
		if d := time.Since(began); d < lease || d > lease+time.Second {
			t.Errorf("the next one entered after %v", d)
		}
		if err := deaf.Release(); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("the deaf holder's release: %v", err)
		}
		if err := lock.TryDo(t.Context(), a, "n", nil, func(context.Context, semel.Fence) error { return nil }); !errors.Is(err, lock.ErrNotAcquired) {
			t.Errorf("the late release gave the turn of the new holder away: %v", err)
		}
		mustRelease(t, next)
	})
}

// A holder that died is waited for as long as its lease lasts, and no longer.
func TestADeadHolder(t *testing.T) {
	processes(t, func(t *testing.T, store *memstore.Store, a, _ *process) {
		_, err := store.Claim(t.Context(), semel.ClaimParams{
			Key: a.Key("n").ID(), Token: semel.NewToken(), Fingerprint: fingerprintOfALock(t), Policy: semel.AtLeastOnce, Lease: lease, Retention: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		mustRelease(t, mustAcquire(t, a, "n"))
		if d := time.Since(began); d < lease || d > lease+time.Second {
			t.Errorf("entered after %v", d)
		}
	})
}

func fingerprintOfALock(t *testing.T) semel.Fingerprint {
	t.Helper()
	r, err := semel.NewRecorder(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.ClaimOf(semel.Op{Key: semel.KeyOf(semel.Scope{Principal: semel.Global}, "n"), Input: semel.NoInput})
	if err != nil {
		t.Fatal(err)
	}
	return p.Fingerprint
}

// 128 callers of one process are one caller to the store.
func TestOneWaiterOfAProcessAsks(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		held := mustAcquire(t, b, "n")
		var callers sync.WaitGroup
		for range 128 {
			callers.Go(func() {
				if _, err := a.Acquire(t.Context(), "n", &lock.Options{Wait: time.Second}); !errors.Is(err, lock.ErrTimeout) {
					t.Error(err)
				}
			})
		}
		time.Sleep(999 * time.Millisecond)
		if n := len(a.store.Calls(semeltest.Claim)); n > 20 {
			t.Errorf("%d claims in a second", n)
		}
		callers.Wait()
		mustRelease(t, held)
	})
}

func TestTooManyWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeased(t, newStore(t), &lock.Config{MaxWaiters: 3, MaxWaitersPerName: 2})
		first, second := mustAcquire(t, l, "a"), mustAcquire(t, l, "b")
		var callers sync.WaitGroup
		full := func(name string) {
			if _, err := l.Acquire(t.Context(), name, nil); !errors.Is(err, lock.ErrTooManyWaiters) || !errors.Is(err, lock.ErrNotAcquired) {
				t.Errorf("one more for %s: %v", name, err)
			}
		}
		wait := func(name string) {
			callers.Go(func() { mustRelease(t, mustAcquire(t, l, name)) })
			synctest.Wait()
		}
		wait("a")
		wait("a")
		full("a")
		wait("b")
		full("b")
		mustRelease(t, first)
		mustRelease(t, second)
		callers.Wait()
		mustRelease(t, mustAcquire(t, l, "a"))
		mustClose(t, l)
	})
}

// A process waits for so many names at the store, and no more.
func TestTooManyNames(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		const most = 1024
		held := make([]*lock.Held, most+1)
		for i := range held {
			held[i] = mustAcquire(t, b, fmt.Sprint(i))
		}
		var callers sync.WaitGroup
		var full, over atomic.Int32
		for i := range held {
			callers.Go(func() {
				_, err := a.Acquire(t.Context(), fmt.Sprint(i), &lock.Options{Wait: time.Second})
				switch {
				case errors.Is(err, lock.ErrTooManyWaiters):
					full.Add(1)
				case errors.Is(err, lock.ErrTimeout):
					over.Add(1)
				}
			})
		}
		callers.Wait()
		if full.Load() != 1 || over.Load() != most {
			t.Errorf("%d were one too many, %d waited", full.Load(), over.Load())
		}
		for _, h := range held {
			mustRelease(t, h)
		}
	})
}

// A wait may be longer than a record stays.
func TestWaitBeyondTheRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		config := &lock.Config{Lease: lease, Retention: 2 * lease}
		a, b := newLeased(t, store, config), newLeased(t, store, config)
		held := mustAcquire(t, a, "n")
		time.AfterFunc(10*lease, func() { mustRelease(t, held) })
		began := time.Now()
		next, err := b.Acquire(t.Context(), "n", &lock.Options{Wait: semel.Forever})
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(began) != 10*lease {
			t.Errorf("entered after %v", time.Since(began))
		}
		mustRelease(t, next)
		mustClose(t, a, b)
	})
}

// The reply to a claim is lost. Field fault: the client re-sends, and the caller waits for
// its own claim.
func TestClaimWithoutAReply(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		a.store.Next(semeltest.Claim, semeltest.ApplyThenFail(semel.ErrNoReply))
		began := time.Now()
		mustRelease(t, mustAcquire(t, a, "n"))
		if d := time.Since(began); d > time.Second {
			t.Errorf("waited %v for itself", d)
		}
		a.store.Always(semeltest.Claim, semeltest.ApplyThenFail(semel.ErrNoReply))
		if _, err := a.Acquire(t.Context(), "n", nil); !errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, lock.ErrNotAcquired) {
			t.Errorf("a store that does not answer: %v", err)
		}
		began = time.Now()
		mustRelease(t, mustAcquire(t, b, "n"))
		if d := time.Since(began); d > time.Second {
			t.Errorf("the claim without a reply was in the way for %v", d)
		}
		a.store.Heal()
		mustRelease(t, mustAcquire(t, a, "n"))
	})
}

// The store is away when the lock is given back: it is told later.
func TestReleaseWithoutAReply(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		held := mustAcquire(t, a, "n")
		a.store.Always(semeltest.Finish, semeltest.Fail(errDown))
		mustRelease(t, held)
		time.AfterFunc(3*time.Second, a.store.Heal)
		began := time.Now()
		mustRelease(t, mustAcquire(t, b, "n"))
		if d := time.Since(began); d < 3*time.Second || d > 6*time.Second {
			t.Errorf("free after %v", d)
		}
	})
}

// What is done under a lock is no run of its record: keys for calls to others would be
// the same for all that is ever done under it.
func TestTheRunOfALockIsHidden(t *testing.T) {
	processes(t, func(t *testing.T, store *memstore.Store, a, _ *process) {
		engine, err := semel.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p", Operation: "charge"}, "1"), Input: semel.NoInput}
		work := func(ctx context.Context, _ semel.Fence) error {
			if run, ok := semel.RunFrom(ctx); ok && run.ID() != op.Key.ID() {
				t.Error("the work sees the run of the lock")
			}
			return nil
		}
		_ = lock.Do(t.Context(), a, "n", nil, work)
		_, err = semel.Do(t.Context(), engine, op, func(ctx context.Context) (int, error) {
			return 1, lock.Do(ctx, a, "n", nil, func(ctx context.Context, fence semel.Fence) error {
				if _, ok := semel.RunFrom(ctx); !ok {
					t.Error("the lock hides the run around it")
				}
				return work(ctx, fence)
			})
		})
		if err != nil {
			t.Error(err)
		}
		mustClose(t, engine)
	})
}

// busyStore counts as many attempts as a lock has after weeks.
type busyStore struct{ *semeltest.FaultStore }

func (s busyStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	res, err := s.FaultStore.Claim(ctx, p)
	res.Record.Attempt += 1 << 24
	return res, err
}

// A busy lock's record is never forgotten, so its count has to begin anew before it is
// too large for the store.
func TestTheCountOfABusyLockBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		l := newLeased(t, busyStore{semeltest.NewFaultStore(store)}, nil)
		var last semel.Fence
		for range 3 {
			held := mustAcquire(t, l, "n")
			if held.Fence() <= last {
				t.Errorf("fence %d after %d", held.Fence(), last)
			}
			last = held.Fence()
			mustRelease(t, held)
			if rec := recordOf(t, store, l); rec.Attempt != 0 || rec.State != semel.StateReleased {
				t.Errorf("%v with %d attempts; want released and none", rec.State, rec.Attempt)
			}
		}
		mustClose(t, l)
	})
}

// Raw names never reach logs or errors.
func TestNamesAreNotTold(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, b *process) {
		const name = "alice@example.org"
		a.store.Always(semeltest.Renew, semeltest.Fail(errDown))
		a.store.Always(semeltest.Finish, semeltest.Fail(errDown))
		held := mustAcquire(t, a, name)
		_, refused := b.Acquire(t.Context(), name, &lock.Options{Wait: time.Second})
		time.Sleep(2 * lease)
		lost := held.Release()
		a.store.Heal()
		time.Sleep(lease)
		if a.logs.Len() == 0 || strings.Contains(a.logs.String()+refused.Error()+lost.Error(), "alice") {
			t.Errorf("the name was told, or nothing:\n%s%v\n%v", a.logs, refused, lost)
		}
	})
}

func TestARecordOfSomebodyElse(t *testing.T) {
	processes(t, func(t *testing.T, store *memstore.Store, a, _ *process) {
		engine, err := semel.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first, err := semel.FirstTime(t.Context(), engine, a.Key("n"), time.Hour); !first || err != nil {
			t.Fatal(first, err)
		}
		if _, err := a.Acquire(t.Context(), "n", nil); err == nil || !strings.Contains(err.Error(), "Config.Scope") {
			t.Errorf("got %v", err)
		}
		mustClose(t, engine)
	})
}

func TestCloseWaitsForHolders(t *testing.T) {
	processes(t, func(t *testing.T, _ *memstore.Store, a, _ *process) {
		held := mustAcquire(t, a, "n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Close(ctx); err == nil || !strings.Contains(err.Error(), "1 runs") {
			t.Errorf("closed with a lock held: %v", err)
		}
		if _, err := a.Acquire(t.Context(), "other", nil); !errors.Is(err, semel.ErrClosed) {
			t.Errorf("a closed locker gave %v", err)
		}
		mustRelease(t, held)
	})
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for fix, config := range map[string]*lock.Config{
		"semel.Global":           {Scope: semel.Scope{Operation: "lock"}},
		"leave it 0 for 10m":     {Retention: 59 * time.Second},
		"leave it 0 for 1024":    {MaxWaiters: -1},
		"leave it 0 for 256":     {MaxWaitersPerName: -1},
		"leave it 0 for 500ms":   {Poll: -1},
		"use 1s or more":         {Lease: time.Millisecond},
		"Retention 59s is below": {Retention: 59 * time.Second, MaxWaiters: -1},
		"MaxWaiters is negative": {Retention: 59 * time.Second, MaxWaiters: -1},
	} {
		if _, err := lock.New(newStore(t), config); err == nil || !strings.Contains(err.Error(), fix) {
			t.Errorf("the error %q does not say %q", err, fix)
		}
	}
	mustClose(t, newLeased(t, newStore(t), &lock.Config{Lease: time.Hour})) // the retention follows
	l := newLeased(t, newStore(t), nil)
	for fix, o := range map[string]*lock.Options{"use 1s or more": {Lease: time.Millisecond}, "raise Retention": {Lease: semel.Forever}} {
		if _, err := l.Acquire(t.Context(), "n", o); err == nil || !strings.Contains(err.Error(), fix) {
			t.Errorf("the error %q does not say %q", err, fix)
		}
	}
	if _, err := l.Acquire(t.Context(), "", nil); err == nil {
		t.Error("a lock without a name was acquired")
	}
	mustClose(t, l)
}
