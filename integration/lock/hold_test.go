package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/child"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/semeltest"
)

// Callers on three handles want one lock: never two inside by their own view, and the
// fence rises with each entry. Nobody waits in vain.
func TestOneHolderAtATime(t *testing.T) {
	everywhere(t, func(t *testing.T, b backends.Backend, dsn string) {
		r := &room{t: t}
		var callers sync.WaitGroup
		const handles, callersEach = 3, 22
		for range handles {
			l := locker(t, b.OpenFor(t, dsn).Store, lock.Config{})
			for range callersEach {
				callers.Go(func() {
					err := lock.Do(t.Context(), l, "hot", nil, func(ctx context.Context, fence semel.Fence) error {
						r.enter(fence)
						defer r.leave()
						return ctx.Err()
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		callers.Wait()
		if len(r.fences) != handles*callersEach {
			t.Errorf("%d entries of %d", len(r.fences), handles*callersEach)
		}
	})
}

// The holder's renewals fail: it is cancelled before the next one enters, its late write
// is refused, and its late release frees nobody's lock but its own. Field faults: late owner
// deletes the new owner's record; stale holder frees.
func TestLateHolder(t *testing.T) {
	everywhere(t, func(t *testing.T, b backends.Backend, dsn string) {
		h := b.OpenFor(t, dsn)
		prepareRows(t, h.DB)
		cut := semeltest.NewFaultStore(h.Store)
		cut.Always(semeltest.Renew, semeltest.Fail(semel.ErrStoreUnavailable))
		a, other := locker(t, cut, lock.Config{Lease: lease}), locker(t, b.OpenFor(t, dsn).Store, lock.Config{})

		late, err := a.Acquire(t.Context(), "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := guardedWrite(t.Context(), h.DB, late.Fence()); err != nil {
			t.Error("the first write:", err)
		}
		next, err := other.Acquire(t.Context(), "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		if cause := context.Cause(late.Context()); !errors.Is(cause, semel.ErrLeaseLost) {
			t.Errorf("the next one is inside, and the first one's context has ended by: %v", cause)
		}
		if next.Fence() <= late.Fence() {
			t.Errorf("fence %d after %d", next.Fence(), late.Fence())
		}
		for range 2 { // the same holder again passes
			if err := guardedWrite(t.Context(), h.DB, next.Fence()); err != nil {
				t.Error("the new holder's write:", err)
			}
		}
		if err := guardedWrite(t.Context(), h.DB, late.Fence()); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("the late write: %v", err)
		}
		if err := late.Release(); !errors.Is(err, semel.ErrFenced) {
			t.Errorf("the late release: %v", err)
		}
		if _, err := a.Acquire(t.Context(), "n", &lock.Options{Wait: lock.NoWait}); !errors.Is(err, lock.ErrNotAcquired) {
			t.Errorf("after the late release the lock could be had: %v", err)
		}
		if err := next.Release(); err != nil {
			t.Error(err)
		}
		if n, newest := written(t, h.DB); n != 3 || newest != next.Fence() {
			t.Errorf("%d writes, the newest with fence %d; want 3 and %d", n, newest, next.Fence())
		}
	})
}

// A process that is killed keeps its lock for as long as its lease lasts.
func TestKilledHolder(t *testing.T) {
	everywhere(t, func(t *testing.T, b backends.Backend, dsn string) {
		l := locker(t, b.OpenFor(t, dsn).Store, lock.Config{})
		p := child.Start(t, "holder", b.Name, dsn, "die")
		if !p.After(1, "held") {
			t.Fatal("the child got no lock")
		}
		first := heldBy(t, p.Kill(t))
		err := lock.TryDo(t.Context(), l, "n", nil, func(context.Context, semel.Fence) error { return nil })
		if !errors.Is(err, lock.ErrNotAcquired) {
			t.Logf("the lease was over already: %v", err) // the machine was slow
		}
		began := time.Now()
		held, err := l.Acquire(t.Context(), "n", &lock.Options{Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if held.Fence() <= first {
			t.Errorf("fence %d after %d", held.Fence(), first)
		}
		t.Logf("free %v after the kill", time.Since(began))
		if err := held.Release(); err != nil {
			t.Error(err)
		}
	})
}

// heldBy reads what a child has said of its lock.
func heldBy(t *testing.T, said []string) (fence semel.Fence) {
	t.Helper()
	for _, line := range said {
		if _, err := fmt.Sscanf(line, "held %d", &fence); err == nil {
			return fence
		}
	}
	t.Fatalf("no lock in %q", said)
	return 0
}

// Hard case 7: a process that is paused beyond its lease. Only the fence stops its late
// write; it knows of the loss as soon as it runs again.
func TestPausedHolder(t *testing.T) {
	everywhere(t, func(t *testing.T, b backends.Backend, dsn string) {
		h := b.OpenFor(t, dsn)
		prepareRows(t, h.DB)
		l := locker(t, h.Store, lock.Config{})
		p := child.Start(t, "holder", b.Name, dsn, "pause")
		if !p.After(1, "held") {
			t.Fatal("the child got no lock")
		}
		held, err := l.Acquire(t.Context(), "n", &lock.Options{Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := guardedWrite(t.Context(), h.DB, held.Fence()); err != nil {
			t.Error(err)
		}
		p.Signal(t, syscall.SIGCONT)
		said, err := p.Wait()
		if err != nil || said[len(said)-1] != "late true true true" {
			t.Errorf("the paused holder said %q, %v; want that it knew of the loss, and was refused at the resource and at the release", said, err)
		}
		if err := held.Lost(); err != nil {
			t.Error("the new holder lost its lock to a late one:", err)
		}
		if err := held.Release(); err != nil {
			t.Error(err)
		}
		if n, newest := written(t, h.DB); n != 1 || newest != held.Fence() {
			t.Errorf("%d writes, the newest with fence %d", n, newest)
		}
	})
}

// A waiter that gives up owns nothing, and leaves nothing in the way.
func TestWhoGivesUpOwnsNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, b backends.Backend, dsn string) {
		a, other := locker(t, b.OpenFor(t, dsn).Store, lock.Config{}), locker(t, b.OpenFor(t, dsn).Store, lock.Config{})
		held, err := a.Acquire(t.Context(), "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		var waiters sync.WaitGroup
		for range 8 {
			waiters.Go(func() {
				if _, err := other.Acquire(t.Context(), "n", &lock.Options{Wait: 50 * time.Millisecond}); !errors.Is(err, lock.ErrTimeout) {
					t.Error(err)
				}
			})
		}
		waiters.Wait()
		if err := errors.Join(held.Lost(), held.Release()); err != nil {
			t.Error(err)
		}
		for _, l := range []*lock.Leased{other, a} {
			err := lock.Do(t.Context(), l, "n", nil, func(context.Context, semel.Fence) error { return nil })
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// After a release exactly one of those who wait enters.
func TestAReleaseLetsOneIn(t *testing.T) {
	everywhere(t, func(t *testing.T, b backends.Backend, dsn string) {
		first, err := locker(t, b.OpenFor(t, dsn).Store, lock.Config{}).Acquire(t.Context(), "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		entered, leave := make(chan semel.Fence), make(chan struct{})
		var waiters sync.WaitGroup
		for range 3 {
			l := locker(t, b.OpenFor(t, dsn).Store, lock.Config{})
			for range 2 {
				waiters.Go(func() {
					err := lock.Do(t.Context(), l, "n", nil, func(_ context.Context, fence semel.Fence) error {
						entered <- fence
						<-leave
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		last := first.Fence()
		if err := first.Release(); err != nil {
			t.Error(err)
		}
		for range 6 {
			fence := <-entered
			if fence <= last {
				t.Errorf("fence %d after %d", fence, last)
			}
			last = fence
			select {
			case <-entered:
				t.Error("two have entered after one release")
			case <-time.After(20 * time.Millisecond): // several polls
			}
			leave <- struct{}{}
		}
		waiters.Wait()
	})
}
