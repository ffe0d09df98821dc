package semeltest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semeltest"
)

var errLost = errors.New("connection reset")

func faulty(t *testing.T) (*semeltest.FaultStore, *semel.Engine) {
	t.Helper()
	mem, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	store := semeltest.NewFaultStore(mem)
	engine, err := semel.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, engine
}

func pay(t *testing.T, engine *semel.Engine) (semel.Result[int], error) {
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p"}, t.Name()), Input: semel.NoInput}
	return semel.Do(t.Context(), engine, op, func(context.Context) (int, error) { return 1, nil })
}

// Every fault leaves one run and one answer, and is recorded.
func TestFaultsAreMetOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		method semeltest.Method
		fault  semeltest.Fault
		calls  int
	}{
		"claim fails":           {semeltest.Claim, semeltest.Fail(errLost), 2},
		"claim's reply is lost": {semeltest.Claim, semeltest.ApplyThenFail(errLost), 2},
		"claim arrives twice":   {semeltest.Claim, semeltest.Duplicate(), 1},
		"claim is late":         {semeltest.Claim, semeltest.Delay(time.Second), 1},
		"finish fails":          {semeltest.Finish, semeltest.Fail(errLost), 2},
		"finish's reply lost":   {semeltest.Finish, semeltest.ApplyThenFail(errLost), 2},
		"finish arrives twice":  {semeltest.Finish, semeltest.Duplicate(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, engine := faulty(t)
				store.Next(tt.method, tt.fault)
				for i := range 2 {
					res, err := pay(t, engine)
					if err != nil || res.Value != 1 || res.Attempt != 1 || res.Replayed != (i == 1) {
						t.Errorf("call %d: %+v, %v", i+1, res, err)
					}
				}
				extra := 0
				if tt.method == semeltest.Claim {
					extra = 1 // the replay's
				}
				calls := store.Calls(tt.method)
				if len(calls) != tt.calls+extra || calls[0].Fault == nil || !errors.Is(calls[0].Err, tt.fault.Err) {
					t.Errorf("recorded %+v", calls)
				}
				if err := engine.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAlwaysAndHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, engine := faulty(t)
		store.Always(semeltest.Claim, semeltest.Fail(semel.ErrStoreUnavailable))
		if _, err := pay(t, engine); !errors.Is(err, semel.ErrStoreUnavailable) {
			t.Errorf("got %v", err)
		}
		store.Heal()
		if res, err := pay(t, engine); err != nil || res.Replayed {
			t.Errorf("healed: %+v, %v", res, err)
		}
		if err := engine.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestDelayEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := faulty(t)
		store.Always(semeltest.Read, semeltest.Delay(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := store.Read(ctx, semel.ReadParams{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

// A clock that moves only when told to drives leases and renewals.
func TestClockDrivesAnEngine(t *testing.T) {
	t.Parallel()
	clock := semeltest.NewClock()
	mem, err := memstore.New(&memstore.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	store := semeltest.NewFaultStore(mem)
	engine, err := semel.New(store, &semel.Options{Clock: clock, Lease: 30 * time.Second, Retention: semel.Forever})
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := engine.Begin(t.Context(), semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p"}, "k"), Input: semel.NoInput})
	if err != nil {
		t.Fatal(err)
	}
	store.Always(semeltest.Renew, semeltest.Fail(errLost))
	for run.Context().Err() == nil { // the engine's own goroutine notices
		clock.Advance(time.Second)
	}
	if cause := context.Cause(run.Context()); !errors.Is(cause, semel.ErrLeaseLost) {
		t.Errorf("cancelled with %v", cause)
	}
	if _, err := run.Finish(semel.Verdict{State: semel.StateReleased}); err != nil {
		t.Error(err)
	}
	if err := engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTimers(t *testing.T) {
	t.Parallel()
	clock := semeltest.NewClock()
	now, later, stopped := clock.NewTimer(0), clock.NewTimer(time.Second), clock.NewTimer(time.Second)
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop says whether the timer waited")
	}
	<-now.C()
	clock.Advance(time.Second - 1)
	select {
	case <-later.C():
		t.Error("fired early")
	default:
	}
	clock.Advance(1)
	if at := <-later.C(); !at.Equal(clock.Now()) {
		t.Errorf("fired at %v", at)
	}
	select {
	case <-stopped.C():
		t.Error("a stopped timer fired")
	default:
	}
}
