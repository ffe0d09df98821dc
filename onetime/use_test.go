package onetime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semeltest"
)

func TestSecondSubmitReplaysTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	token := w.issue()
	first, err := w.submit(token, "tea", says("order 7"))
	if err != nil || first.Value != "order 7" || first.Replayed {
		t.Fatalf("first: %+v, %v", first, err)
	}
	again, err := w.submit(token, "tea", w.never)
	if err != nil || again.Value != "order 7" || !again.Replayed || again.Fence != first.Fence {
		t.Errorf("second: %+v, %v", again, err)
	}
	if other, err := w.submit(w.issue(), "tea", says("order 8")); err != nil || other.Value != "order 8" {
		t.Errorf("another token: %+v, %v", other, err)
	}
}

// Field fault: check then delete in two steps, two submits pass.
func TestTwoSubmitsAtOnce(t *testing.T) {
	t.Parallel()
	const submits = 64
	w := newWorld(t, setup{})
	token := w.issue()
	var runs, replays, busy atomic.Int64
	begun, release := make(chan struct{}), make(chan struct{})
	submit := func() {
		res, err := w.submit(token, "tea", func(context.Context) (string, error) {
			if runs.Add(1) == 1 {
				close(begun)
			}
			<-release
			return "order 7", nil
		})
		switch {
		case err == nil && res.Replayed && res.Value == "order 7":
			replays.Add(1)
		case err == nil && res.Value == "order 7":
		case isBusy(err):
			busy.Add(1)
		default:
			t.Errorf("%+v, %v", res, err)
		}
	}
	var first, others sync.WaitGroup
	first.Go(submit)
	<-begun
	for range submits {
		others.Go(submit)
	}
	others.Wait()
	close(release)
	first.Wait()
	submit()
	if runs.Load() != 1 || busy.Load() != submits || replays.Load() != 1 {
		t.Errorf("%d runs, %d in progress, %d replays; want 1, %d, 1", runs.Load(), busy.Load(), replays.Load(), submits)
	}
}

func isBusy(err error) bool {
	_, busy := errors.AsType[*semel.InProgressError](err)
	return busy
}

// during sends a form, and lets another submit come while its work runs.
func (w *world) during(token, content string, other func()) {
	w.t.Helper()
	begun, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := w.submit(token, content, func(context.Context) (string, error) { close(begun); <-release; return "order 7", nil }); err != nil {
			w.t.Error(err)
		}
	})
	<-begun
	group.Go(other)
	close(release)
	group.Wait()
}

// A browser shows the answer to the last click alone: it has to be the first's.
func TestSecondSubmitWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{forms: onetime.Options{Wait: 10 * time.Second}})
	token := w.issue()
	w.during(token, "tea", func() {
		if res, err := w.submit(token, "tea", w.never); err != nil || !res.Replayed || res.Value != "order 7" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

var errAddress = errors.New("the address is missing")

// Field fault: token consumed by a submit that failed validation, user locked out. The
// engine's limit of attempts does not count for forms.
func TestFailedValidationGivesTheTokenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{engine: semel.Options{MaxAttempts: 2}})
	token := w.issue()
	for i := range 20 {
		res, err := w.submit(token, strings.Repeat("x", i), func(context.Context) (string, error) { return "", semel.Retryable(errAddress) })
		if !errors.Is(err, errAddress) || res.Replayed {
			t.Fatalf("try %d: %+v, %v", i+1, res, err)
		}
	}
	if res, err := w.submit(token, "corrected", says("order 7")); err != nil || res.Value != "order 7" || res.Attempt != 21 {
		t.Errorf("corrected: %+v, %v", res, err)
	}
	if res, err := w.submit(token, "corrected", w.never); err != nil || !res.Replayed {
		t.Errorf("sent again: %+v, %v", res, err)
	}
}

// Field fault: back button re-sends another form with a used token, silently swallowed.
// It is told, together with what was done.
func TestAnotherFormWithAUsedTokenIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	token := w.issue()
	if _, err := w.submit(token, "tea", says("order 7")); err != nil {
		t.Fatal(err)
	}
	res, err := w.submit(token, "coffee", w.never)
	if _, changed := errors.AsType[*onetime.ContentChangedError](err); !changed || res.Value != "order 7" || !res.Replayed {
		t.Errorf("got %+v, %v; want a *ContentChangedError and the first result", res, err)
	}
	if res, err := w.submit(token, "tea", w.never); err != nil || !res.Replayed {
		t.Errorf("the same form again: %+v, %v", res, err)
	}
}

// The same while the first runs: a waiting submit of another content is told too.
func TestAnotherFormThatWaitsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{forms: onetime.Options{Wait: 10 * time.Second}})
	token := w.issue()
	w.during(token, "tea", func() {
		_, err := w.submit(token, "coffee", w.never)
		if _, changed := errors.AsType[*onetime.ContentChangedError](err); !changed {
			t.Errorf("got %v, want a *ContentChangedError", err)
		}
	})
}

func TestRecordedFailureIsReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	token := w.issue()
	cause := errors.New("sold out")
	failing := func(context.Context) (string, error) {
		return "", semel.Final(&semel.FinalError{Code: "sold-out", Message: "sold out", Data: []byte("tea"), Err: cause})
	}
	if _, err := w.submit(token, "tea", failing); !errors.Is(err, cause) {
		t.Errorf("first: %v, want its own error", err)
	}
	res, err := w.submit(token, "tea", w.never)
	final, ok := errors.AsType[*semel.FinalError](err)
	if !ok || final.Code != "sold-out" || final.Message != "sold out" || string(final.Data) != "tea" || !res.Replayed {
		t.Errorf("second: %+v, %v", res, err)
	}
	_, err = w.submit(token, "coffee", w.never)
	if _, changed := errors.AsType[*onetime.ContentChangedError](err); !changed {
		t.Errorf("another content: %v", err)
	}
}

// The last word counts, as in semel.Do: a failure that is retryable after all.
func TestRetryableFinalGivesTheTokenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	token := w.issue()
	if _, err := w.submit(token, "tea", func(context.Context) (string, error) { return "", semel.Retryable(semel.Final(errAddress)) }); !errors.Is(err, errAddress) {
		t.Fatal(err)
	}
	if res, err := w.submit(token, "coffee", says("order 7")); err != nil || res.Replayed {
		t.Errorf("%+v, %v", res, err)
	}
}

// Another user or purpose gets what a forged token gets, before and after it was used,
// and changes nothing.
func TestOthersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	token := w.issue()
	attempt := func() {
		for _, tc := range []struct{ what, token, purpose, subject string }{
			{"another user", token, "order", "bob"},
			{"another purpose", token, "refund", "alice"},
			{"forged", "x" + token[1:], "order", "alice"},
		} {
			res, err := onetime.Use(t.Context(), w.forms, tc.token, tc.purpose, tc.subject, semel.InputString("tea"), w.never)
			wantRefused(t, tc.what, res, err)
		}
	}
	calls := len(w.store.Calls())
	attempt()
	if n := len(w.store.Calls()) - calls; n != 0 {
		t.Errorf("refused tokens made %d calls of the store", n)
	}
	if _, err := w.submit(token, "tea", says("order 7")); err != nil {
		t.Fatal(err)
	}
	attempt()
}

func TestExpiredUnusedTokenIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{issuer: onetime.IssuerOptions{Lifetime: hour}})
	unused, returned := w.issue(), w.issue()
	if _, err := w.submit(returned, "tea", func(context.Context) (string, error) { return "", semel.Retryable(errAddress) }); !errors.Is(err, errAddress) {
		t.Fatal(err)
	}
	w.clock.Advance(hour)
	for what, token := range map[string]string{"unused": unused, "given back": returned} {
		if _, err := w.submit(token, "tea", w.never); err != onetime.ErrExpired {
			t.Errorf("%s: got %v, want ErrExpired", what, err)
		}
	}
}

// A retry of an answer that got lost must not be told that nothing was done, only
// because the token has expired meanwhile: the user would send the form again with a
// new one.
func TestExpiredUsedTokenReplays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{issuer: onetime.IssuerOptions{Lifetime: hour}})
	token := w.issue()
	w.clock.Advance(hour - time.Second)
	if _, err := w.submit(token, "tea", says("order 7")); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(2 * time.Second)
	if res, err := w.submit(token, "tea", w.never); err != nil || !res.Replayed || res.Value != "order 7" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A used token stays used until it has expired, by clocks that are an hour off too: the
// record outlives it, whatever the engine's retention.
func TestRecordOutlivesTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{
		issuer: onetime.IssuerOptions{Lifetime: 10 * hour},
		engine: semel.Options{Retention: time.Minute},
	})
	token := w.issue()
	if _, err := w.submit(token, "tea", says("order 7")); err != nil {
		t.Fatal(err)
	}
	for range 119 { // past the end of the token, and nearly to the end of the slack
		w.clock.Advance(6 * time.Minute)
		res, err := w.submit(token, "tea", w.never)
		if err != onetime.ErrExpired && (err != nil || !res.Replayed) {
			t.Fatalf("%+v, %v", res, err)
		}
	}
}

// A token that was issued with a longer lifetime, before the settings changed, does not
// outlive its record either.
func TestLongTokenOfFormerSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{issuer: onetime.IssuerOptions{Lifetime: hour}, engine: semel.Options{Retention: time.Minute}})
	former := newIssuer(t, &onetime.IssuerOptions{Lifetime: 100 * hour, Clock: w.clock}, secretOf(1))
	token := issueFor(t, former, "order", "alice")
	if _, err := w.submit(token, "tea", says("order 7")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // before its end and after it, where another clock may be late
		w.clock.Advance(50*hour + 30*time.Minute)
		if res, err := w.submit(token, "tea", w.never); err != nil || !res.Replayed {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// What a crash leaves: under AtLeastOnce the next submit runs, a corrected one too;
// under AtMostOnce nobody runs it again.
func TestCrashWhileRunning(t *testing.T) {
	t.Parallel()
	for policy, content := range map[semel.Policy]string{semel.AtLeastOnce: "corrected", semel.AtMostOnce: "tea"} {
		t.Run(policy.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setup{forms: onetime.Options{Policy: policy, Lease: time.Minute}})
			token := w.issue()
			v, err := w.issuer.Verify(token, "order", "alice")
			if err != nil {
				t.Fatal(err)
			}
			key := v.Key()
			claimAndDie(t, w, key, policy)
			if _, err := w.submit(token, "tea", w.never); !isBusy(err) {
				t.Errorf("before the lease is over: %v", err)
			}
			w.clock.Advance(2 * time.Minute)
			res, err := w.submit(token, content, says("order 7"))
			_, doubt := errors.AsType[*semel.InDoubtError](err)
			switch {
			case policy == semel.AtMostOnce && !doubt:
				t.Errorf("got %+v, %v; want an *InDoubtError", res, err)
			case policy == semel.AtLeastOnce && (err != nil || res.Value != "order 7" || res.Attempt != 2):
				t.Errorf("got %+v, %v; want the second attempt", res, err)
			}
		})
	}
}

// claimAndDie leaves what a process leaves that dies while the work runs.
func claimAndDie(t *testing.T, w *world, key semel.Key, policy semel.Policy) {
	t.Helper()
	recorder, err := semel.NewRecorder(nil)
	if err != nil {
		t.Fatal(err)
	}
	op := semel.Op{Key: key, Input: semel.NoInput, Policy: policy, Lease: time.Minute, Retention: 24 * hour}
	claim, _, err := recorder.ClaimOf(op)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := w.store.Claim(t.Context(), *claim); err != nil || res.Outcome != semel.ClaimAcquired {
		t.Fatal(res.Outcome, err)
	}
}

func TestErrorAndPanicUnderEachPolicy(t *testing.T) {
	t.Parallel()
	for policy, back := range map[semel.Policy]bool{semel.AtLeastOnce: true, semel.AtMostOnce: false} {
		w := newWorld(t, setup{forms: onetime.Options{Policy: policy}})
		token := w.issue()
		func() {
			defer func() { _ = recover() }()
			_, _ = w.submit(token, "tea", func(context.Context) (string, error) { panic("boom") })
		}()
		_, err := w.submit(token, "tea", says("order 7"))
		if _, doubt := errors.AsType[*semel.InDoubtError](err); doubt == back {
			t.Errorf("%v: got %v", policy, err)
		}
	}
}

// A store that is down is no refusal, and nothing runs.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{issuer: onetime.IssuerOptions{Lifetime: hour}})
	token := w.issue()
	w.store.Always(semeltest.Read, semeltest.Fail(semel.ErrStoreUnavailable))
	w.clock.Advance(hour) // so that the record is looked up first
	if _, err := w.submit(token, "tea", w.never); !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("got %v, want ErrStoreUnavailable", err)
	}
}

func TestContentMustBeSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	token := w.issue()
	if _, err := onetime.Use(t.Context(), w.forms, token, "order", "alice", semel.Input{}, w.never); err == nil || !strings.Contains(err.Error(), "no Input") {
		t.Errorf("got %v, want the fix", err)
	}
	if _, err := onetime.Use(t.Context(), w.forms, token, "order", "alice", semel.NoInput, says("order 7")); err != nil {
		t.Error(err)
	}
}

func TestServiceMistakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{issuer: onetime.IssuerOptions{Lifetime: 30 * hour}})
	for _, tc := range []struct {
		opts onetime.Options
		want string
	}{
		{onetime.Options{Retention: 31 * hour}, "raise Retention, or shorten the Lifetime"},
		{onetime.Options{Lease: time.Millisecond}, "Lease 1ms is below 1s"},
		{onetime.Options{Policy: 9}, "Policy 9 is unknown"},
	} {
		if _, err := onetime.New(w.engine, w.issuer, &tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, want %q", tc.opts, err, tc.want)
		}
	}
	if _, err := onetime.New(w.engine, w.issuer, &onetime.Options{Retention: 32 * hour}); err != nil {
		t.Error(err)
	}
	if _, err := onetime.New(nil, w.issuer, nil); err == nil {
		t.Error("no engine, no error")
	}
	if _, err := onetime.Use[string](t.Context(), nil, "", "order", "alice", semel.NoInput, nil); err == nil {
		t.Error("no service, no error")
	}
}
