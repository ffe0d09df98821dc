package lock

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

// Field faults: one mutex per key never freed; a sweeper removes a lock object that is
// held.
func TestIdleNamesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLocal()
		unlock, err := l.Lock(t.Context(), "n")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waits := make(chan error)
		for range 10 {
			go func() {
				_, err := l.Lock(ctx, "n")
				waits <- err
			}()
		}
		synctest.Wait()
		cancel()
		for range 10 {
			if err := <-waits; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if len(l.queue.lines) != 1 || l.queue.waiting != 0 {
			t.Errorf("%d names and %d waiting, with one name held", len(l.queue.lines), l.queue.waiting)
		}
		if err := l.queue.enter(t.Context(), "n", NoWait); !errors.Is(err, errTaken) {
			t.Errorf("the object of a held name was freed with its waiters: %v", err)
		}
		unlock()
		unlock()
		if len(l.queue.lines) != 0 {
			t.Errorf("%d names are left", len(l.queue.lines))
		}
	})
}

// A turn that comes to somebody who gives up at that moment goes to the next one.
func TestATurnIsNotLost(t *testing.T) {
	t.Parallel()
	var q queue[int]
	if err := q.enter(t.Context(), 1, NoWait); err != nil {
		t.Fatal(err)
	}
	line, first, _ := q.join(1, time.Hour)
	_, second, _ := q.join(1, time.Hour)
	q.leave(1)
	q.giveUp(1, line, first)
	select {
	case <-second.Value.(*seat).called:
	default:
		t.Fatal("the turn is nobody's")
	}
	q.leave(1)
	if len(q.lines) != 0 || q.waiting != 0 {
		t.Errorf("%d lines and %d waiting", len(q.lines), q.waiting)
	}
}

// Waiters of little patience come and go at all moments.
func TestQueueUnderLoad(t *testing.T) {
	t.Parallel()
	var q queue[int]
	var inside, entered atomic.Int32
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for range 500 {
				wait := semel.Forever
				if i%2 == 0 {
					wait = time.Microsecond
				}
				if err := q.enter(t.Context(), 1, wait); err != nil {
					continue
				}
				if inside.Add(1) > 1 {
					t.Error("two have the turn")
				}
				entered.Add(1)
				inside.Add(-1)
				q.leave(1)
			}
		})
	}
	callers.Wait()
	if len(q.lines) != 0 || q.waiting != 0 || entered.Load() < 8*500 {
		t.Errorf("%d lines, %d waiting, %d entered", len(q.lines), q.waiting, entered.Load())
	}
}
