package inbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, []rule{
		{name: "a duplicate replays", run: replays},
		{name: "another input is refused", run: mismatch},
		{name: "Final undoes the effects and is replayed", run: final},
		{name: "a failure leaves no record", run: failureLeavesNothing},
		{name: "a panic rolls back and goes on", run: panics},
		{name: "Goexit rolls back", run: goexit},
		{name: "a caller who has gone rolls back", run: callerGone},
		{name: "a swallowed error is no success", run: swallowed},
		{name: "work that commits is done, and runs no second time", run: commitsItself, free: true},
		{name: "work that rolls back is told", run: rollsBackItself},
		{name: "a result that cannot be kept leaves a tombstone", run: tombstone, free: true},
		{name: "zero and empty results are results", run: emptyResult, free: true},
		{name: "a savepoint of the work's own", run: ownSavepoint},
	})
}

func replays(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	first, err := b.do(t.Context(), opOf("r1"), withdrawing("r1", 7))
	if err != nil || first.Replayed || first.Value.Amount != 7 || first.Attempt != 1 || first.Fence == 0 {
		t.Fatalf("first call: %+v, %v", first, err)
	}
	second, err := b.do(t.Context(), opOf("r1"), withdrawing("r1", 8))
	if err != nil || !second.Replayed || second.Value != first.Value || second.Fence != first.Fence || second.Attempt != 1 {
		t.Errorf("second call: %+v, %v; want a replay of %+v", second, err, first)
	}
	rec := f.read(t, opOf("r1"))
	if rec.State != semel.StateDone || rec.Result.Kind != semel.ResultValue || rec.Operation != "withdraw" {
		t.Errorf("record %+v; want it done, with a value, under its label", rec)
	}
	if n := f.times(t, "r1"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func mismatch(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	if _, err := b.do(t.Context(), opOf("m"), withdrawing("m", 1)); err != nil {
		t.Fatal(err)
	}
	other := opOf("m")
	other.Input = semel.InputString("another")
	_, err := b.do(t.Context(), other, withdrawing("m", 1))
	if _, ok := errors.AsType[*semel.MismatchError](err); !ok {
		t.Errorf("error %v; want a mismatch", err)
	}
	other.Former = []semel.Input{semel.InputString("m")}
	if res, err := b.do(t.Context(), other, withdrawing("m", 1)); err != nil || !res.Replayed {
		t.Errorf("known by its former input: %+v, %v; want a replay", res, err)
	}
}

func final(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	cause := errors.New("no such account")
	refuse := func(ctx context.Context, tx execer) (receipt, error) {
		if _, err := withdraw(ctx, tx, "f", 5); err != nil {
			return receipt{}, err
		}
		return receipt{}, semel.Final(&semel.FinalError{Code: "unknown", Message: "no such account", Err: cause})
	}
	_, err := b.do(t.Context(), opOf("f"), refuse)
	if fin, ok := errors.AsType[*semel.FinalError](err); !ok || fin.Code != "unknown" || !errors.Is(err, cause) {
		t.Errorf("first caller: %v; want the failure with its cause", err)
	}
	if n := f.times(t, "f"); n != 0 {
		t.Errorf("%d business rows; want none: the effects go back to the savepoint", n)
	}
	res, err := b.do(t.Context(), opOf("f"), withdrawing("f", 5))
	if fin, ok := errors.AsType[*semel.FinalError](err); !ok || fin.Code != "unknown" || !res.Replayed {
		t.Errorf("second caller: %+v, %v; want the failure replayed", res, err)
	}
}

// Public tracker: a handler that throws after its effect leaves the effect and loses
// the claim.
func failureLeavesNothing(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	cause := errors.New("no")
	for _, failure := range []error{cause, semel.Retryable(cause), semel.InDoubt(cause)} {
		_, err := b.do(t.Context(), opOf("e"), func(ctx context.Context, tx execer) (receipt, error) {
			r, _ := withdraw(ctx, tx, "e", 1)
			return r, failure
		})
		if !errors.Is(err, failure) {
			t.Errorf("error %v; want what the work returned", err)
		}
		if rec := f.read(t, opOf("e")); rec.State != semel.StateNone || f.times(t, "e") != 0 {
			t.Errorf("after %v: record %v, %d effects; want neither", failure, rec.State, f.times(t, "e"))
		}
	}
	if _, err := b.do(t.Context(), opOf("e"), withdrawing("e", 1)); err != nil || f.times(t, "e") != 1 {
		t.Errorf("the next caller: %v, %d effects; want one", err, f.times(t, "e"))
	}
}

func panics(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v; want the work's own value", p)
			}
		}()
		_, _ = b.do(t.Context(), opOf("p"), func(ctx context.Context, tx execer) (receipt, error) {
			_, _ = withdraw(ctx, tx, "p", 1)
			panic("boom")
		})
	}()
	if _, err := b.do(t.Context(), opOf("p"), withdrawing("p", 1)); err != nil || f.times(t, "p") != 1 {
		t.Errorf("the next caller: %v, %d effects", err, f.times(t, "p"))
	}
}

func goexit(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.do(t.Context(), opOf("g"), func(ctx context.Context, tx execer) (receipt, error) {
			_, _ = withdraw(ctx, tx, "g", 1)
			runtime.Goexit()
			return receipt{}, nil
		})
	}()
	<-ended
	if _, err := b.do(t.Context(), opOf("g"), withdrawing("g", 1)); err != nil || f.times(t, "g") != 1 {
		t.Errorf("the next caller: %v, %d effects", err, f.times(t, "g"))
	}
}

func callerGone(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	_, err := b.do(ctx, opOf("c"), func(ctx context.Context, tx execer) (receipt, error) {
		r, err := withdraw(ctx, tx, "c", 1)
		cancel(gone)
		return r, err
	})
	if !errors.Is(err, gone) {
		t.Errorf("error %v; want the cause of the caller's context", err)
	}
	if rec := f.read(t, opOf("c")); rec.State != semel.StateNone || f.times(t, "c") != 0 {
		t.Errorf("record %v, %d effects; want neither", rec.State, f.times(t, "c"))
	}
	if _, err := b.do(ctx, opOf("c"), withdrawing("c", 1)); !errors.Is(err, gone) || f.times(t, "c") != 0 {
		t.Errorf("a call whose context is over: %v, %d effects", err, f.times(t, "c"))
	}
	if _, err := b.do(t.Context(), opOf("c"), withdrawing("c", 1)); err != nil {
		t.Error(err)
	}
}

// The work hides that a statement failed. Where that aborts the transaction nothing
// is committed; elsewhere the work is what it says.
func swallowed(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	_, err := b.do(t.Context(), opOf("s"), func(ctx context.Context, tx execer) (receipt, error) {
		r, err := withdraw(ctx, tx, "s", 1)
		_ = tx.exec(ctx, "SELECT nothing FROM nowhere")
		return r, err
	})
	recorded := f.read(t, opOf("s")).State == semel.StateDone
	if recorded != (err == nil) || f.times(t, "s") != btoi(recorded) {
		t.Errorf("error %v, recorded %v, %d effects; want all or nothing", err, recorded, f.times(t, "s"))
	}
	if f.world.aborts && (err == nil || !strings.Contains(err.Error(), "nothing was committed")) {
		t.Errorf("error %v; want one that says that nothing was committed", err)
	}
	if _, err := b.do(t.Context(), opOf("s"), withdrawing("s", 1)); err != nil {
		t.Error(err)
	}
}

func commitsItself(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	_, err := b.do(t.Context(), opOf("own"), func(ctx context.Context, tx execer) (receipt, error) {
		r, err := withdraw(ctx, tx, "own", 1)
		return r, errors.Join(err, tx.end(true))
	})
	if !errors.Is(err, inbox.ErrEnded) {
		t.Errorf("error %v; want inbox.ErrEnded", err)
	}
	_, err = b.do(t.Context(), opOf("own"), withdrawing("own", 1))
	if _, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok {
		t.Errorf("the next caller: %v; want done, result not available", err)
	}
	if n := f.times(t, "own"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

func rollsBackItself(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	for _, end := range []func(context.Context, execer) error{
		func(_ context.Context, tx execer) error { return tx.end(false) },
		func(ctx context.Context, tx execer) error { return tx.exec(ctx, "ROLLBACK") },
		func(ctx context.Context, tx execer) error {
			return errors.Join(tx.exec(ctx, "ROLLBACK"), tx.exec(ctx, "BEGIN"), tx.exec(ctx, "INSERT INTO other (id) VALUES (1)"))
		},
	} {
		_, err := b.do(t.Context(), opOf("back"), func(ctx context.Context, tx execer) (receipt, error) {
			r, err := withdraw(ctx, tx, "back", 1)
			return r, errors.Join(err, end(ctx, tx))
		})
		if !errors.Is(err, inbox.ErrEnded) {
			t.Errorf("error %v; want inbox.ErrEnded", err)
		}
		if rec := f.read(t, opOf("back")); rec.State != semel.StateNone {
			t.Errorf("record %v; want none", rec.State)
		}
	}
	if n := f.number(t, "SELECT COUNT(*) FROM other"); n != 0 {
		t.Errorf("%d rows of a transaction that the work began by itself were committed without a record", n)
	}
	if _, err := b.do(t.Context(), opOf("back"), withdrawing("back", 1)); err != nil || f.times(t, "back") != 1 {
		t.Errorf("the next caller: %v, %d effects", err, f.times(t, "back"))
	}
}

// Public tracker: an over-size result is dropped, so the work runs again.
func tombstone(t *testing.T, f *fixture) {
	b := f.box(t, &inbox.Options{MaxResult: 4})
	res, err := b.do(t.Context(), opOf("t"), withdrawing("t", 3))
	if err != nil || res.Value.Amount != 3 {
		t.Errorf("first caller: %+v, %v; want the value", res, err)
	}
	_, err = b.do(t.Context(), opOf("t"), withdrawing("t", 3))
	if gone, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok || !strings.Contains(gone.Remark, "limit") {
		t.Errorf("second caller: %v; want done, result not available", err)
	}
	if n := f.times(t, "t"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// Public tracker: empty, 0 and null results are not stored.
func emptyResult(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	for range 2 {
		res, err := b.do(t.Context(), opOf("zero"), func(context.Context, execer) (receipt, error) { return receipt{}, nil })
		if err != nil || res.Value != (receipt{}) {
			t.Errorf("%+v, %v; want the zero value", res, err)
		}
	}
	if rec := f.read(t, opOf("zero")); rec.Result.Kind != semel.ResultValue {
		t.Errorf("result of kind %d; want a value", rec.Result.Kind)
	}
}

func ownSavepoint(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	_, err := b.do(t.Context(), opOf("sp"), func(ctx context.Context, tx execer) (receipt, error) {
		err := errors.Join(
			tx.exec(ctx, "SAVEPOINT mine"),
			tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = balance - %d WHERE id = 2", 99)),
			tx.exec(ctx, "ROLLBACK TO SAVEPOINT mine"),
		)
		if err != nil {
			return receipt{}, err
		}
		return withdraw(ctx, tx, "sp", 4)
	})
	if err != nil {
		t.Error(err)
	}
}
