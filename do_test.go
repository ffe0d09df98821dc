package semel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/semel-go/semel"
)

type receipt struct {
	ID    string
	Cents int64
	Lines []string
}

func TestDoRunsOnceAndReplays(t *testing.T) {
	w := newWorld(t, nil)
	runs := 0
	charge := func(ctx context.Context) (receipt, error) {
		runs++
		if fence, ok := semel.FenceFrom(ctx); !ok || fence == 0 {
			t.Error("the handler's context carries no fence")
		}
		return receipt{ID: "r1", Cents: 9007199254740993, Lines: []string{}}, nil
	}
	first, err := semel.Do(t.Context(), w.Engine, opFor(t), charge)
	if err != nil || first.Replayed || first.Attempt != 1 {
		t.Fatalf("first: %+v, %v", first, err)
	}
	for range 3 {
		again, err := semel.Do(t.Context(), w.Engine, opFor(t), charge)
		if err != nil || !again.Replayed || again.Fence != first.Fence || !reflect.DeepEqual(again.Value, first.Value) {
			t.Fatalf("replay: %+v, %v; want the value of %+v", again, err, first)
		}
	}
	if runs != 1 {
		t.Errorf("the work ran %d times", runs)
	}
	w.mustClose(t)
}

// Field fault: empty, 0, false and null results are not stored.
func TestZeroResultsReplayAsThemselves(t *testing.T) {
	w := newWorld(t, nil)
	replaysAs(t, w, "int", 0)
	replaysAs(t, w, "bool", false)
	replaysAs(t, w, "string", "")
	replaysAs(t, w, "nil slice", []byte(nil))
	replaysAs(t, w, "empty slice", []int{})
	replaysAs(t, w, "nil slice of int", []int(nil))
	replaysAs(t, w, "nil map", map[string]int(nil))
	replaysAs(t, w, "empty map", map[string]int{})
	replaysAs(t, w, "nil pointer", (*receipt)(nil))
	replaysAs(t, w, "pointer", &receipt{})
	replaysAs(t, w, "struct", struct{}{})
	replaysAs(t, w, "nil any", any(nil))
	replaysAs(t, w, "binary", []byte{0, 0xff, 0xfe, '"', '\n'})
	replaysAs(t, w, "max", uint64(math.MaxUint64))
	w.mustClose(t)
}

func replaysAs[T any](t *testing.T, w *world, name string, value T) {
	t.Helper()
	op := semel.Op{Key: keyFor(t, name), Input: semel.NoInput}
	for i := range 2 {
		res, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (T, error) { return value, nil })
		if err != nil || !reflect.DeepEqual(res.Value, value) || res.Replayed != (i == 1) {
			t.Errorf("%s, call %d: %#v (replayed %t), %v; want %#v", name, i+1, res.Value, res.Replayed, err, value)
		}
	}
}

// I12. Field fault: an over-size result is dropped, so the work runs again.
func TestWhatCannotBeKeptBecomesATombstone(t *testing.T) {
	w := newWorld(t, &semel.Options{MaxResult: 100})
	for name, value := range map[string]any{
		"over the limit": strings.Repeat("x", 200), "not encodable": make(chan int), "not a number": math.NaN(), "panics": bad{},
	} {
		op := semel.Op{Key: keyFor(t, name), Input: semel.NoInput}
		res, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (any, error) { return value, nil })
		if err != nil || res.Replayed {
			t.Errorf("%s: the first caller got %v", name, err)
		}
		_, err = semel.Do(t.Context(), w.Engine, op, func(context.Context) (any, error) {
			t.Errorf("%s: the work ran again", name)
			return nil, nil
		})
		if _, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok {
			t.Errorf("%s: the retry got %v", name, err)
		}
	}
	w.mustClose(t)
}

type bad struct{}

func (bad) MarshalJSON() ([]byte, error) { panic("no") }

func TestResultOfAnotherTypeIsUnavailable(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (string, error) { return "text", nil }); err != nil {
		t.Fatal(err)
	}
	_, err := semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 0, nil })
	if _, ok := errors.AsType[*semel.ResultUnavailableError](err); !ok {
		t.Errorf("got %v", err)
	}
	w.mustClose(t)
}

func TestWhatAHandlersErrorMeans(t *testing.T) {
	cause := errors.New("declined")
	final := &semel.FinalError{Code: "declined", Message: "no cover", Data: []byte{1, 2}}
	tests := []struct {
		name   string
		err    error
		policy semel.Policy
		want   semel.State
	}{
		{"error", cause, semel.AtLeastOnce, semel.StateReleased},
		{"error", cause, semel.AtMostOnce, semel.StateInDoubt},
		{"retryable", semel.Retryable(cause), semel.AtLeastOnce, semel.StateReleased},
		{"retryable", semel.Retryable(cause), semel.AtMostOnce, semel.StateReleased},
		{"in doubt", semel.InDoubt(cause), semel.AtLeastOnce, semel.StateInDoubt},
		{"in doubt", semel.InDoubt(cause), semel.AtMostOnce, semel.StateInDoubt},
		{"final", semel.Final(cause), semel.AtLeastOnce, semel.StateDone},
		{"final with code", fmt.Errorf("pay: %w", final), semel.AtMostOnce, semel.StateDone},
		{"retryable final", semel.Retryable(final), semel.AtLeastOnce, semel.StateReleased},
		{"final retryable", semel.Final(semel.Retryable(cause)), semel.AtLeastOnce, semel.StateDone},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.policy.String(), func(t *testing.T) {
			w := newWorld(t, nil)
			op := opFor(t)
			op.Policy = tt.policy
			_, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { return 0, tt.err })
			if !errors.Is(err, tt.err) {
				t.Errorf("the caller got %v, which hides %v", err, tt.err)
			}
			if rec := w.read(t, op.Key); rec.State != tt.want {
				t.Errorf("the record is %v, want %v", rec.State, tt.want)
			}
			w.mustClose(t)
		})
	}
}

func TestFinalErrorReplays(t *testing.T) {
	w := newWorld(t, nil)
	cause := errors.New("cause")
	fail := func(context.Context) (int, error) {
		return 0, &semel.FinalError{Code: "declined", Message: "no cover", Data: []byte{0, 255}, Err: cause}
	}
	for i := range 3 {
		res, err := semel.Do(t.Context(), w.Engine, opFor(t), fail)
		got, ok := errors.AsType[*semel.FinalError](err)
		if !ok || got.Code != "declined" || got.Message != "no cover" || string(got.Data) != "\x00\xff" || res.Replayed != (i > 0) {
			t.Errorf("call %d: %+v, %#v", i+1, res, err)
		}
		if errors.Is(err, cause) != (i == 0) {
			t.Errorf("call %d: only the first caller's error unwraps to the original", i+1)
		}
	}
	w.mustClose(t)
}

// I9. Field fault: panic, Goexit or abort leaves the key locked.
func TestPanicAndExitEndTheRun(t *testing.T) {
	for _, policy := range []semel.Policy{semel.AtLeastOnce, semel.AtMostOnce} {
		for name, end := range map[string]func(){"panic": func() { panic("boom") }, "exit": runtime.Goexit} {
			t.Run(name+" "+policy.String(), func(t *testing.T) {
				w := newWorld(t, nil)
				op := opFor(t)
				op.Policy = policy
				var value any
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { value = recover() }()
					_, _ = semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { end(); return 0, nil })
				})
				wg.Wait()
				if name == "panic" && value != "boom" {
					t.Errorf("the panic's value became %v", value)
				}
				want := semel.StateReleased
				if policy == semel.AtMostOnce {
					want = semel.StateInDoubt
				}
				if rec := w.read(t, op.Key); rec.State != want {
					t.Errorf("the record is %v, want %v", rec.State, want)
				}
				w.mustClose(t)
			})
		}
	}
}

// I9. Field fault: client disconnects, result lost, retry runs again.
func TestResultIsSavedForACallerWhoLeft(t *testing.T) {
	w := newWorld(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	res, err := semel.Do(ctx, w.Engine, opFor(t), func(context.Context) (int, error) { leave(); return 7, nil })
	if err != nil || res.Value != 7 {
		t.Fatal(res, err)
	}
	res, err = semel.Do(t.Context(), w.Engine, opFor(t), func(context.Context) (int, error) { return 8, nil })
	if err != nil || res.Value != 7 || !res.Replayed {
		t.Errorf("the retry got %+v, %v", res, err)
	}
	w.mustClose(t)
}

// Field fault: two replicas racing.
func TestConcurrentCallersShareOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		op := opFor(t)
		release := make(chan struct{})
		var won, busy sync.Map
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				res, err := semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { <-release; return i, nil })
				if p, ok := errors.AsType[*semel.InProgressError](err); ok {
					busy.Store(i, p.RetryAfter)
				} else if err == nil {
					won.Store(i, res)
				}
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		if n := size(&won); n != 1 || size(&busy) != 49 {
			t.Errorf("%d ran, %d were told to come back", n, size(&busy))
		}
		busy.Range(func(_, after any) bool {
			if after.(interface{ Seconds() float64 }).Seconds() != 5 {
				t.Errorf("RetryAfter is %v, want min(lease left, 5s)", after)
			}
			return true
		})
		w.mustClose(t)
	})
}

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

func TestRecoverClearsUpADoubt(t *testing.T) {
	tests := []struct {
		name   string
		found  semel.Recovered[string]
		state  semel.State
		value  string
		runs   int
		failed bool
	}{
		{"done", semel.Done("found"), semel.StateDone, "found", 1, false},
		{"did not happen", semel.DidNotHappen[string](), semel.StateDone, "ran", 2, false},
		{"still unknown", semel.StillUnknown[string](errors.New("down")), semel.StateInDoubt, "", 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, &semel.Options{Policy: semel.AtMostOnce})
			op, runs := opFor(t), 0
			var derived []string
			work := func(ctx context.Context) (string, error) {
				runs++
				run, _ := semel.RunFrom(ctx)
				derived = append(derived, run.Derive("psp"))
				if runs == 1 {
					if err := run.Checkpoint(ctx, []byte("sent")); !errors.Is(err, semel.ErrUnsupported) {
						t.Errorf("a store without checkpoints said %v", err)
					}
					return "", errors.New("no reply from the bank")
				}
				return "ran", nil
			}
			_, err := semel.Do(t.Context(), w.Engine, op, work)
			doubt, ok := errors.AsType[*semel.InDoubtError](err)
			if !ok || doubt.Cause != semel.CauseError {
				t.Fatalf("first: %v", err)
			}
			res, err := semel.DoRecover(t.Context(), w.Engine, op, work, func(ctx context.Context, r semel.Recovery) semel.Recovered[string] {
				run, _ := semel.RunFrom(ctx)
				derived = append(derived, run.Derive("psp"))
				if r.Attempt != 1 || r.Cause != semel.CauseError || r.StartedAt.IsZero() {
					t.Errorf("recovery knows %+v", r)
				}
				return tt.found
			})
			if (err != nil) != tt.failed || res.Value != tt.value || runs != tt.runs {
				t.Errorf("got %+v, %v after %d runs", res, err, runs)
			}
			if rec := w.read(t, op.Key); rec.State != tt.state {
				t.Errorf("the record is %v, want %v", rec.State, tt.state)
			}
			for _, d := range derived {
				if d != op.Key.Derive("psp") {
					t.Errorf("the derived key changed between attempts: %v", derived)
				}
			}
			w.mustClose(t)
		})
	}
}

func TestMaxAttemptsEndsInDoubt(t *testing.T) {
	w := newWorld(t, &semel.Options{MaxAttempts: 3})
	op, runs := opFor(t), 0
	var err error
	for range 6 {
		_, err = semel.Do(t.Context(), w.Engine, op, func(context.Context) (int, error) { runs++; return 0, errors.New("again") })
	}
	doubt, ok := errors.AsType[*semel.InDoubtError](err)
	if runs != 3 || !ok || doubt.Cause != semel.CauseAttempts || doubt.Attempt != 3 {
		t.Errorf("%d runs, then %v", runs, err)
	}
	w.mustClose(t)
}

// A recovery sees the last checkpoint of the run in doubt.
func TestCheckpointReachesTheRecovery(t *testing.T) {
	engine := newEngine(&semel.Options{Policy: semel.AtMostOnce})
	op := opFor(t)
	note := func(ctx context.Context) (string, error) {
		run, _ := semel.RunFrom(ctx)
		for _, step := range []string{"reserved", "sent"} {
			if err := run.Checkpoint(ctx, []byte(step)); err != nil {
				t.Error(err)
			}
		}
		return "", errors.New("no reply from the bank")
	}
	if _, err := semel.Do(t.Context(), engine, op, note); err == nil {
		t.Fatal("the first run did not fail")
	}
	res, err := semel.DoRecover(t.Context(), engine, op, note, func(_ context.Context, doubt semel.Recovery) semel.Recovered[string] {
		return semel.Done("found after " + string(doubt.Checkpoint))
	})
	if err != nil || res.Value != "found after sent" {
		t.Errorf("got %+v, %v; want the last checkpoint", res, err)
	}
	if err := engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
