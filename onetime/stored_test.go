package onetime_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semeltest"
)

func newStored(t *testing.T, opts *onetime.StoredOptions) (*world, *onetime.Stored) {
	t.Helper()
	w := newWorld(t, setup{})
	stored, err := onetime.NewStored(w.engine, opts)
	if err != nil {
		t.Fatal(err)
	}
	return w, stored
}

func storedFor(t *testing.T, s *onetime.Stored) string {
	t.Helper()
	token, err := s.Issue(t.Context(), "order", "alice")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Field fault: check then delete in two steps, two submits pass.
func TestStoredTokenIsConsumedOnce(t *testing.T) {
	t.Parallel()
	_, stored := newStored(t, nil)
	token := storedFor(t, stored)
	var passed, refused atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			switch err := stored.Consume(t.Context(), token, "order", "alice"); err {
			case nil:
				passed.Add(1)
			case onetime.ErrRefused:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if passed.Load() != 1 || refused.Load() != 63 {
		t.Errorf("%d passed, %d refused; want 1 and 63", passed.Load(), refused.Load())
	}
}

// A wrong user neither consumes a token nor learns whether it exists: the same error,
// after the same calls, for every token that is not theirs.
func TestStoredTokenOfOthers(t *testing.T) {
	t.Parallel()
	w, stored := newStored(t, nil)
	token, used := storedFor(t, stored), storedFor(t, stored)
	if err := stored.Consume(t.Context(), used, "order", "alice"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ what, token, purpose, subject string }{
		{"another user", token, "order", "bob"},
		{"another purpose", token, "refund", "alice"},
		{"used", used, "order", "alice"},
		{"used, another user", used, "order", "bob"},
		{"forged", "A" + token[:1] + token[2:], "order", "alice"},
		{"malformed", "x", "order", "alice"},
		{"stateless", w.issue(), "order", "alice"},
	} {
		calls := len(w.store.Calls())
		if err := stored.Consume(t.Context(), tc.token, tc.purpose, tc.subject); err != onetime.ErrRefused {
			t.Errorf("%s: got %v, want ErrRefused itself", tc.what, err)
		}
		if made := w.store.Calls()[calls:]; len(made) != 1 || made[0].Method != semeltest.Resolve {
			t.Errorf("%s: made %d calls of the store, want one", tc.what, len(made))
		}
	}
	if err := stored.Consume(t.Context(), token, "order", "alice"); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// A lost reply does not refuse its own caller.
func TestStoredTokenAfterALostReply(t *testing.T) {
	t.Parallel()
	w, stored := newStored(t, nil)
	token := storedFor(t, stored)
	w.store.Next(semeltest.Resolve, semeltest.ApplyThenFail(semel.ErrNoReply))
	if err := stored.Consume(t.Context(), token, "order", "alice"); err != nil {
		t.Errorf("got %v", err)
	}
	if err := stored.Consume(t.Context(), token, "order", "alice"); err != onetime.ErrRefused {
		t.Errorf("once more: got %v, want ErrRefused", err)
	}
}

func TestStoredTokenExpires(t *testing.T) {
	t.Parallel()
	w, stored := newStored(t, &onetime.StoredOptions{Lifetime: hour})
	late, good := storedFor(t, stored), storedFor(t, stored)
	w.clock.Advance(hour - time.Second)
	if err := stored.Consume(t.Context(), good, "order", "alice"); err != nil {
		t.Errorf("in time: %v", err)
	}
	w.clock.Advance(time.Second)
	if err := stored.Consume(t.Context(), late, "order", "alice"); err != onetime.ErrRefused {
		t.Errorf("late: got %v, want ErrRefused", err)
	}
	w.clock.Advance(24 * hour) // when the record of the used one is gone
	if err := stored.Consume(t.Context(), good, "order", "alice"); err != onetime.ErrRefused {
		t.Errorf("used, and forgotten: got %v, want ErrRefused", err)
	}
}

func TestStoredTokenNeedsItsStore(t *testing.T) {
	t.Parallel()
	w, stored := newStored(t, nil)
	token := storedFor(t, stored)
	w.store.Next(semeltest.Resolve, semeltest.Fail(semel.ErrStoreUnavailable), semeltest.Fail(semel.ErrStoreUnavailable), semeltest.Fail(semel.ErrStoreUnavailable))
	if err := stored.Consume(t.Context(), token, "order", "alice"); !errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, onetime.ErrRefused) {
		t.Errorf("got %v, want ErrStoreUnavailable", err)
	}
	if err := stored.Consume(t.Context(), token, "order", "alice"); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

// A token is never handed out for a record that is not there, also where the engine
// lets work run without a store.
func TestStoredTokenIsNotIssuedUnguarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	engine, err := semel.New(w.store, &semel.Options{FailOpen: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close(context.WithoutCancel(t.Context())) })
	stored, err := onetime.NewStored(engine, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.store.Always(semeltest.Claim, semeltest.Fail(semel.ErrStoreUnavailable))
	if token, err := stored.Issue(t.Context(), "order", "alice"); err == nil {
		t.Errorf("got the token %q", token)
	}
}

func TestStoredMistakes(t *testing.T) {
	t.Parallel()
	w, stored := newStored(t, nil)
	for _, d := range []time.Duration{time.Second, -hour, 1 << 62} {
		if _, err := onetime.NewStored(w.engine, &onetime.StoredOptions{Lifetime: d}); err == nil || !strings.Contains(err.Error(), "is not between 1m and 366 days") {
			t.Errorf("%v: got %v", d, err)
		}
	}
	if _, err := onetime.NewStored(nil, nil); err == nil {
		t.Error("no engine, no error")
	}
	if _, err := stored.Issue(t.Context(), "", "alice"); err == nil || err == onetime.ErrRefused {
		t.Errorf("no purpose: %v", err)
	}
	if err := stored.Consume(t.Context(), "x", "order", ""); err == nil || err == onetime.ErrRefused {
		t.Errorf("no subject: %v", err)
	}
}
