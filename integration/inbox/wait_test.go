package inbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

func TestDuplicatesWait(t *testing.T) {
	t.Parallel()
	everywhere(t, []rule{
		{name: "a waiting duplicate replays", run: waiterReplays},
		{name: "a waiting duplicate runs when the first rolls back", run: waiterRuns},
		{name: "another input waits and is refused", run: waiterMismatch},
		{name: "one that does not wait is told at once", run: noWait},
		{name: "the wait ends", run: waitEnds},
		{name: "waiters hold a quarter of the pool at most", run: seats, conns: 8},
		{name: "a caller who has gone waits no longer", run: waiterGone},
		{name: "the key of another store is another key", run: otherStore},
	})
}

func waiterReplays(t *testing.T, f *fixture) {
	told := newEvents()
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	second := start(t.Context(), f.box(t, &inbox.Options{Observer: told}), opOf("w"), withdrawing("w", 1))
	told.blocked(t)
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
	if got := <-second; got.err != nil || !got.res.Replayed || got.res.Value.Amount != 1 {
		t.Errorf("the duplicate: %+v; want a replay", got)
	}
}

func waiterRuns(t *testing.T, f *fixture) {
	told := newEvents()
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	b := f.box(t, &inbox.Options{Observer: told})
	second := start(t.Context(), b, opOf("w"), withdrawing("w", 1))
	third := start(t.Context(), b, opOf("w"), withdrawing("w", 1))
	told.blocked(t)
	told.blocked(t)
	failure := errors.New("no")
	if err := h.end(failure); !errors.Is(err, failure) {
		t.Errorf("the first: %v", err)
	}
	a, c := <-second, <-third
	if a.err != nil || c.err != nil || a.res.Replayed == c.res.Replayed {
		t.Errorf("the duplicates: %+v and %+v; want one to run and one to replay", a, c)
	}
}

// Mismatch beats running: while the first runs nothing is known of its input, but
// once it is, another input is never answered with the result.
func waiterMismatch(t *testing.T, f *fixture) {
	told := newEvents()
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	other := opOf("w")
	other.Input = semel.InputString("another")
	second := start(t.Context(), f.box(t, &inbox.Options{Observer: told}), other, withdrawing("w", 1))
	told.blocked(t)
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
	got := <-second
	if _, ok := errors.AsType[*semel.MismatchError](got.err); !ok {
		t.Errorf("the other: %+v; want a mismatch", got)
	}
}

func noWait(t *testing.T, f *fixture) {
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	op := opOf("w")
	op.Wait = -1
	_, err := f.box(t, nil).do(t.Context(), op, withdrawing("w", 1))
	wantInProgress(t, err, nil)
	_, err = f.box(t, &inbox.Options{Wait: -1}).do(t.Context(), opOf("w"), withdrawing("w", 1))
	wantInProgress(t, err, nil)
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
}

func wantInProgress(t *testing.T, err, cause error) {
	t.Helper()
	busy, ok := errors.AsType[*semel.InProgressError](err)
	if !ok || busy.RetryAfter < time.Second || cause != nil && !errors.Is(err, cause) {
		t.Errorf("error %v; want in progress, with a time to ask again (%v)", err, cause)
	}
}

func waitEnds(t *testing.T, f *fixture) {
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	op := opOf("w")
	op.Wait = 50 * time.Millisecond
	_, err := f.box(t, nil).do(t.Context(), op, withdrawing("w", 1))
	wantInProgress(t, err, nil)
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
}

// Ten duplicates, and two seats in a pool of eight: eight of them are sent away while
// the first still runs, and other work finds a connection.
func seats(t *testing.T, f *fixture) {
	b := f.box(t, &inbox.Options{Wait: time.Minute})
	h := hold(t, b, opOf("w"), "w")
	results := make(chan outcome, 10)
	for range 10 {
		go func() {
			res, err := b.do(t.Context(), opOf("w"), withdrawing("w", 1))
			results <- outcome{res, err}
		}()
	}
	for range 8 {
		got := <-results
		wantInProgress(t, got.err, semel.ErrWaitersFull)
	}
	if !f.world.oneWriter {
		_, err := b.do(t.Context(), opOf("other"), func(ctx context.Context, tx execer) (receipt, error) {
			return withdrawFrom(ctx, tx, 2, "other", 1)
		})
		if err != nil {
			t.Errorf("other work: %v", err)
		}
	}
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
	for range 2 {
		if got := <-results; got.err != nil || !got.res.Replayed {
			t.Errorf("a waiter: %+v; want a replay", got)
		}
	}
	if res, err := b.do(t.Context(), opOf("w"), withdrawing("w", 1)); err != nil || !res.Replayed {
		t.Errorf("afterwards: %+v, %v; want a replay", res, err)
	}
}

func waiterGone(t *testing.T, f *fixture) {
	told := newEvents()
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	ctx, cancel := context.WithCancelCause(t.Context())
	second := start(ctx, f.box(t, &inbox.Options{Observer: told}), opOf("w"), withdrawing("w", 1))
	told.blocked(t)
	gone := errors.New("gone")
	cancel(gone)
	if got := <-second; !errors.Is(got.err, gone) {
		t.Errorf("the duplicate: %+v; want the cause of its context", got)
	}
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
}

func otherStore(t *testing.T, f *fixture) {
	other := f.world.fixture(t, 4)
	h := hold(t, f.box(t, nil), opOf("w"), "w")
	op := opOf("w")
	op.Wait = -1
	if res, err := other.box(t, nil).do(t.Context(), op, withdrawing("w", 1)); err != nil || res.Replayed {
		t.Errorf("beside it: %+v, %v; want a run of its own", res, err)
	}
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
}
