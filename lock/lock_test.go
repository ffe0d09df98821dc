package lock_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/semeltest"
)

// lockers are three handles on one store that tells of changes, three on one that does
// not, and one for the callers of this process.
func lockers(t *testing.T, test func(t *testing.T, all []lock.Locker)) {
	t.Helper()
	leased := func(store semel.Store) (all []lock.Locker) {
		for range 3 {
			all = append(all, newLeased(t, store, &lock.Config{Lease: lease}))
		}
		return all
	}
	for name, open := range map[string]func() []lock.Locker{
		"told":    func() []lock.Locker { return leased(newStore(t)) },
		"polling": func() []lock.Locker { return leased(semeltest.NewFaultStore(newStore(t))) },
		"local":   func() []lock.Locker { return []lock.Locker{lock.NewLocal()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				all := open()
				test(t, all)
				for _, l := range all {
					if l, ok := l.(*lock.Leased); ok {
						mustClose(t, l)
					}
				}
			})
		})
	}
}

// Never two inside by the holders' own view, and the fence rises with each entry.
func TestOneHolderAtATime(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		r := &room{t: t}
		var callers sync.WaitGroup
		for i := range 64 {
			callers.Go(func() {
				for range 2 {
					if err := lock.Do(t.Context(), all[i%len(all)], "n", &lock.Options{Wait: time.Hour}, r.visit(100*time.Millisecond)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		callers.Wait()
		if r.visits() != 128 {
			t.Errorf("%d visits of 128", r.visits())
		}
	})
}

func TestNamesDoNotMeet(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		first, second := mustAcquire(t, all[0], "a"), mustAcquire(t, all[0], "A")
		mustRelease(t, first)
		mustRelease(t, second)
	})
}

// Callers of one process get the lock in the order in which they ask.
func TestCallersOfAProcessQueue(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		held := mustAcquire(t, all[0], "n")
		var order []int
		var callers sync.WaitGroup
		for i := range 20 {
			callers.Go(func() {
				_ = lock.Do(t.Context(), all[0], "n", nil, func(context.Context, semel.Fence) error {
					order = append(order, i)
					return nil
				})
			})
			synctest.Wait() // it stands in the queue
		}
		mustRelease(t, held)
		callers.Wait()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("they entered as %v", order)
		}
	})
}

// After a release exactly one of those who wait enters.
func TestAReleaseLetsOneIn(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		held := mustAcquire(t, all[0], "n")
		r := &room{t: t}
		var callers sync.WaitGroup
		for i := range 9 {
			callers.Go(func() {
				_ = lock.Do(t.Context(), all[i%len(all)], "n", nil, r.visit(5*time.Second))
			})
		}
		synctest.Wait()
		mustRelease(t, held)
		time.Sleep(time.Second)
		if r.visits() != 1 {
			t.Errorf("%d entered after one release", r.visits())
		}
		callers.Wait()
	})
}

// Field fault: a waiter that loses patience deletes the running winner's claim. It owns
// nothing, and those behind it are not held up.
func TestWhoGivesUpOwnsNothing(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		held := mustAcquire(t, all[0], "n")
		last := all[len(all)-1]
		began := time.Now()
		_, err := last.Acquire(t.Context(), "n", &lock.Options{Wait: 3 * time.Second})
		refused, ok := errors.AsType[*lock.NotAcquiredError](err)
		if !ok || !errors.Is(err, lock.ErrNotAcquired) || !errors.Is(err, lock.ErrTimeout) || refused.Waited != 3*time.Second || time.Since(began) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errDown)
		defer cancel()
		if _, err := last.Acquire(ctx, "n", nil); !errors.Is(err, errDown) || errors.Is(err, lock.ErrNotAcquired) {
			t.Errorf("a cancelled waiter got %v; want the cause of its context", err)
		}
		err = lock.TryDo(t.Context(), last, "n", &lock.Options{Wait: time.Minute}, func(context.Context, semel.Fence) error {
			t.Error("two are inside")
			return nil
		})
		if !errors.Is(err, lock.ErrNotAcquired) || errors.Is(err, lock.ErrTimeout) || strings.Contains(err.Error(), `"n"`) {
			t.Errorf("trying got %v", err)
		}
		if err := held.Lost(); err != nil {
			t.Error("the holder lost its lock to waiters:", err)
		}
		mustRelease(t, held)
		mustRelease(t, mustAcquire(t, last, "n"))
	})
}

// Field fault: panic, Goexit or abort leaves the key locked.
func TestDoReleasesHoweverItEnds(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		var cancel context.CancelFunc
		for name, fn := range map[string]func(context.Context, semel.Fence) error{
			"error":  func(context.Context, semel.Fence) error { return errDown },
			"panic":  func(context.Context, semel.Fence) error { panic(errDown) },
			"Goexit": func(context.Context, semel.Fence) error { runtime.Goexit(); return nil },
			"cancelled caller": func(ctx context.Context, _ semel.Fence) error {
				cancel()
				return ctx.Err()
			},
		} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			var ended sync.WaitGroup
			ended.Go(func() {
				defer func() {
					if p := recover(); (p != nil) != (name == "panic") || p != nil && p != any(errDown) {
						t.Errorf("%s: recovered %v", name, p)
					}
				}()
				if err := lock.Do(ctx, all[0], name, nil, fn); !errors.Is(err, errDown) && name == "error" {
					t.Errorf("%s: %v", name, err)
				}
			})
			ended.Wait()
			cancel()
			held, err := all[len(all)-1].Acquire(t.Context(), name, &lock.Options{Wait: lock.NoWait})
			if err != nil {
				t.Errorf("after %s: %v", name, err)
				continue
			}
			mustRelease(t, held)
		}
	})
}

func TestContextOfAHeldLock(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "kept"), time.Second)
		defer cancel()
		held, err := all[0].Acquire(ctx, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * lease)
		if err := held.Context().Err(); err != nil || held.Context().Value(key{}) != "kept" {
			t.Errorf("%v, value %v: the context of a wait is not that of the lock", err, held.Context().Value(key{}))
		}
		mustRelease(t, held)
		mustRelease(t, held) // again
		if held.Context().Err() == nil {
			t.Error("the context outlives the release")
		}
		err = lock.Do(ctx, all[0], "n", nil, func(context.Context, semel.Fence) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that has ended got %v", err)
		}
	})
}

func TestDoEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	lockers(t, func(t *testing.T, all []lock.Locker) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errDown)
		defer cancel()
		err := lock.Do(ctx, all[0], "n", nil, func(ctx context.Context, _ semel.Fence) error {
			<-ctx.Done()
			if _, err := all[len(all)-1].Acquire(t.Context(), "n", &lock.Options{Wait: 2 * lease}); !errors.Is(err, lock.ErrNotAcquired) {
				t.Errorf("the lock was free while the work had not returned: %v", err)
			}
			return context.Cause(ctx)
		})
		if !errors.Is(err, errDown) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		lock.Do(t.Context(), nil, "n", nil, func(context.Context, semel.Fence) error { return nil }),
		lock.Do(t.Context(), lock.NewLocal(), "n", nil, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "lock.New") {
			t.Errorf("got %v", err)
		}
	}
}
