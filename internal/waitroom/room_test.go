package waitroom

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

// line is an ear for tests.
type line struct {
	ctx    context.Context
	keys   chan semel.KeyID
	broken chan struct{}
	tries  atomic.Int32
	closed atomic.Bool
}

func (l *line) Hear(ctx context.Context) (semel.KeyID, bool, error) {
	select {
	case key := <-l.keys:
		return key, key != semel.KeyID{}, nil
	case <-l.broken:
		return semel.KeyID{}, false, errBroken
	case <-ctx.Done():
		return semel.KeyID{}, false, ctx.Err()
	}
}

func (l *line) Try(context.Context) error { l.tries.Add(1); return nil }

func (l *line) Close() error { l.closed.Store(true); return nil }

var errBroken = errors.New("broken")

// office is a room and the lines that it opened.
type office struct {
	*Room
	refuse atomic.Bool

	mu    sync.Mutex
	lines []*line
}

func (o *office) line(i int) *line {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines[i]
}

func (o *office) opened() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines)
}

func newOffice() *office {
	o := &office{}
	o.Room = New(func(ctx context.Context) (Ear, error) {
		if o.refuse.Load() {
			return nil, errBroken
		}
		l := &line{ctx: ctx, keys: make(chan semel.KeyID), broken: make(chan struct{})}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lines = append(o.lines, l)
		return l, nil
	})
	return o
}

func yes(context.Context) (bool, error) { return true, nil }

func (o *office) waits(ctx context.Context, key semel.KeyID) <-chan error {
	done := make(chan error, 1)
	go func() { done <- o.Wait(ctx, key, yes) }()
	synctest.Wait()
	return done
}

func TestToldOfItsKeyOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		defer o.Close()
		first, second := o.waits(t.Context(), semel.KeyID{1}), o.waits(t.Context(), semel.KeyID{2})
		if o.opened() != 1 {
			t.Fatalf("%d connections; want one for all who wait", o.opened())
		}
		o.line(0).keys <- semel.KeyID{} // a message without a key
		o.line(0).keys <- semel.KeyID{1}
		if err := <-first; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		select {
		case err := <-second:
			t.Errorf("the other waiter came back: %v", err)
		default:
		}
	})
}

// Whoever ended the run may have died before it told.
func TestComesBackUntold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		defer o.Close()
		began := time.Now()
		if err := o.Wait(t.Context(), semel.KeyID{1}, yes); err != nil || time.Since(began) != recheck {
			t.Errorf("came back after %v, %v; want %v", time.Since(began), err, recheck)
		}
	})
}

// A server that does not answer keeps nobody for longer than a lost message does.
func TestComesBackWhileItConnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(func(ctx context.Context) (Ear, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		defer r.Close()
		began := time.Now()
		if err := r.Wait(t.Context(), semel.KeyID{1}, yes); err != nil || time.Since(began) != recheck {
			t.Errorf("came back after %v, %v; want %v", time.Since(began), err, recheck)
		}
		if !r.deserted() {
			t.Error("it still has a seat")
		}
	})
}

func TestNothingToWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		defer o.Close()
		began := time.Now()
		if err := o.Wait(t.Context(), semel.KeyID{1}, func(context.Context) (bool, error) { return false, nil }); err != nil {
			t.Error(err)
		}
		if err := o.Wait(t.Context(), semel.KeyID{1}, func(context.Context) (bool, error) { return true, errBroken }); !errors.Is(err, errBroken) {
			t.Errorf("the look failed, and the wait says %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ends := o.waits(ctx, semel.KeyID{1})
		cancel()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("a wait that was cancelled: %v", err)
		}
		if !o.deserted() || time.Now() != began {
			t.Error("somebody still waits, or time went by")
		}
	})
}

// A connection that breaks wakes all, so that nothing is missed, and the next waiter
// opens another one; one that cannot be had is not asked for again and again.
func TestConnectionBreaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		defer o.Close()
		first := o.waits(t.Context(), semel.KeyID{1})
		close(o.line(0).broken)
		if err := <-first; err != nil {
			t.Errorf("woken by the broken connection: %v", err)
		}
		synctest.Wait()
		o.refuse.Store(true)
		for range 3 {
			if err := o.Wait(t.Context(), semel.KeyID{1}, yes); !errors.Is(err, semel.ErrStoreUnavailable) {
				t.Errorf("without a connection: %v", err)
			}
		}
		time.Sleep(minPause)
		o.refuse.Store(false)
		second := o.waits(t.Context(), semel.KeyID{1})
		if o.opened() != 2 || !o.line(0).closed.Load() {
			t.Fatalf("%d connections, the first closed: %v; want a second one", o.opened(), o.line(0).closed.Load())
		}
		o.line(1).keys <- semel.KeyID{1}
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

// No connection is kept for nobody, and one that is needed is looked after.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		defer o.Close()
		go func() {
			for range 20 {
				_ = o.Wait(t.Context(), semel.KeyID{1}, yes)
			}
		}()
		time.Sleep(idle + time.Second)
		synctest.Wait()
		if l := o.line(0); l.tries.Load() != 1 || l.closed.Load() {
			t.Errorf("with a waiter: tried %d times, closed: %v; want tried once", l.tries.Load(), l.closed.Load())
		}
		time.Sleep(idle)
		synctest.Wait()
		if l := o.line(0); !l.closed.Load() {
			t.Error("the connection is kept though nobody waits")
		}
	})
}

func TestCloseWakesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		first := o.waits(t.Context(), semel.KeyID{1})
		o.Close()
		if err := <-first; err != nil {
			t.Errorf("woken by Close: %v", err)
		}
		if !o.line(0).closed.Load() {
			t.Error("the connection is open after Close")
		}
		if err := o.Wait(t.Context(), semel.KeyID{1}, yes); !errors.Is(err, semel.ErrStoreUnavailable) {
			t.Errorf("a wait after Close: %v", err)
		}
	})
}
