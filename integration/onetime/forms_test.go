package onetime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

var errAddress = errors.New("the address is missing")

// Field faults: token consumed by a submit that failed validation, user locked out; back
// button re-sends another form with a used token, silently swallowed.
func TestLifeOfAForm(t *testing.T) {
	t.Parallel()
	everywhere(t, onetime.Options{}, func(t *testing.T, w *world) {
		token := w.token(t)
		for replica := range w.replicas {
			_, err := w.submit(t, replica, token, "alice", "no address", func(context.Context) (string, error) { return "", semel.Retryable(errAddress) })
			if !errors.Is(err, errAddress) {
				t.Errorf("refused: %v", err)
			}
		}
		res, err := w.submit(t, 0, token, "alice", "1 Tea Street", says("order 7"))
		want(t, res, err, "order 7", false)
		res, err = w.submit(t, 1, token, "alice", "1 Tea Street", never(t))
		want(t, res, err, "order 7", true)
		res, err = w.submit(t, 1, token, "alice", "2 Coffee Road", never(t))
		if got := outcome(res, err); got != "changed" || res.Value != "order 7" {
			t.Errorf("another form: %s, %q", got, res.Value)
		}
		for _, other := range []string{"bob", "alice "} {
			if _, err := w.submit(t, 1, token, other, "1 Tea Street", never(t)); err != onetime.ErrRefused {
				t.Errorf("%q got %v", other, err)
			}
		}
	})
}

// Field fault: check then delete in two steps, two submits pass.
func TestManySubmitsAtOnce(t *testing.T) {
	t.Parallel()
	const submits = 64
	everywhere(t, onetime.Options{Wait: 30 * time.Second}, func(t *testing.T, w *world) {
		token := w.token(t)
		var runs atomic.Int64
		var mu sync.Mutex
		outcomes := map[string]int{}
		var group sync.WaitGroup
		start := make(chan struct{})
		for i := range submits {
			group.Go(func() {
				<-start
				res, err := w.submit(t, i%2, token, "alice", "1 Tea Street", func(context.Context) (string, error) {
					runs.Add(1)
					return "order 7", nil
				})
				if err == nil && res.Value != "order 7" {
					t.Errorf("got %+v", res)
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[outcome(res, err)]++
			})
		}
		close(start)
		group.Wait()
		if runs.Load() != 1 || outcomes["ran 1"] != 1 || outcomes["replayed"]+outcomes["in progress"] != submits-1 {
			t.Errorf("%d runs; %v", runs.Load(), outcomes)
		}
		res, err := w.submit(t, 1, token, "alice", "1 Tea Street", never(t))
		want(t, res, err, "order 7", true)
	})
}

// Many corrections race after one refusal: one of them is placed, the others are told.
func TestCorrectionsRace(t *testing.T) {
	t.Parallel()
	everywhere(t, onetime.Options{Wait: 30 * time.Second}, func(t *testing.T, w *world) {
		token := w.token(t)
		if _, err := w.submit(t, 0, token, "alice", "no address", func(context.Context) (string, error) { return "", semel.Retryable(errAddress) }); !errors.Is(err, errAddress) {
			t.Fatal(err)
		}
		var runs atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				content := string(rune('a' + i))
				res, err := w.submit(t, i%2, token, "alice", content, func(context.Context) (string, error) {
					runs.Add(1)
					return content, nil
				})
				if got := outcome(res, err); got != "ran 2" && got != "changed" || got == "ran 2" && res.Value != content {
					t.Errorf("%s: %s with %q", content, got, res.Value)
				}
			})
		}
		group.Wait()
		if runs.Load() != 1 {
			t.Errorf("%d runs, want 1", runs.Load())
		}
	})
}

// What a process leaves that dies while the work runs.
func TestCrash(t *testing.T) {
	t.Parallel()
	for policy, after := range map[semel.Policy]string{semel.AtLeastOnce: "ran 2", semel.AtMostOnce: "in doubt"} {
		t.Run(policy.String(), func(t *testing.T) {
			t.Parallel()
			everywhere(t, onetime.Options{Policy: policy, Lease: 10 * time.Minute}, func(t *testing.T, w *world) {
				token := w.token(t)
				die(t, w, token, policy)
				if got := outcome(w.submit(t, 1, token, "alice", "1 Tea Street", never(t))); got != "in progress" {
					t.Errorf("before the lease is over: %s", got)
				}
				if err := w.handle.Pass(t.Context(), 11*time.Minute, false, w.key(t, token)); err != nil {
					t.Fatal(err)
				}
				if got := outcome(w.submit(t, 1, token, "alice", "2 Coffee Road", says("order 8"))); got != after {
					t.Errorf("afterwards: %s, want %s", got, after)
				}
			})
		})
	}
}

// die claims the record of a token as a service does, and does nothing more.
func die(t *testing.T, w *world, token string, policy semel.Policy) {
	t.Helper()
	recorder, err := semel.NewRecorder(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.issuer.Verify(token, "order", "alice")
	if err != nil {
		t.Fatal(err)
	}
	claim, _, err := recorder.ClaimOf(semel.Op{
		Key: v.Key(), Input: semel.NoInput,
		Policy: policy, Lease: 10 * time.Minute, Retention: v.Retention(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := w.handle.Store.Claim(t.Context(), *claim); err != nil || res.Outcome != semel.ClaimAcquired {
		t.Fatal(res.Outcome, err)
	}
}

// The record of a used token outlives the token by the store's clock, although the
// engine keeps others for a minute.
func TestRecordOutlivesTheToken(t *testing.T) {
	t.Parallel()
	everywhere(t, onetime.Options{}, func(t *testing.T, w *world) {
		token := w.token(t)
		if _, err := w.submit(t, 0, token, "alice", "1 Tea Street", says("order 7")); err != nil {
			t.Fatal(err)
		}
		key := w.key(t, token)
		rec, err := w.handle.Store.Read(t.Context(), semel.ReadParams{Key: key})
		if err != nil || rec.ExpiresIn < 3*time.Hour-time.Minute {
			t.Errorf("the record stays for %v, %v; want 3h", rec.ExpiresIn, err)
		}
		if err := w.handle.Pass(t.Context(), 2*time.Hour+40*time.Minute, true, key); err != nil {
			t.Fatal(err)
		}
		res, err := w.submit(t, 1, token, "alice", "1 Tea Street", never(t))
		want(t, res, err, "order 7", true)
	})
}
