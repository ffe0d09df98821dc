package semelhttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// metered is a service with a quota, whose clock and store stand still.
func metered(t *testing.T, q semelhttp.Quota, o semelhttp.Options, handler http.HandlerFunc) (*world, *semeltest.Clock) {
	t.Helper()
	clock := semeltest.NewClock()
	o.Quota, o.Clock = &q, clock
	return newWorld(t, &setup{http: o, now: clock.Now}, handler), clock
}

// New keys a minute, for each principal; what repeats an old key is free.
//
// Threat: storage filled by unlimited keys (quota per scope).
func TestQuotaOfNewKeys(t *testing.T) {
	t.Parallel()
	w, clock := metered(t, semelhttp.Quota{NewKeysPerMinute: 2}, semelhttp.Options{}, echo)
	first := w.post("b", keyed("1"))
	for range 5 {
		replays(t, first, w.post("b", keyed("1")))
		w.post("other", keyed("1")).isProblem(t, 422, "key-reused")
	}
	w.post("b", keyed("2")).is(t, 201, "b")
	want := problem(503, "overloaded", "Overloaded", "This caller has used as many new keys as it may for now. Nothing was executed; requests that repeat an earlier key are answered.", "same-key", "30", "", "")
	if got := whole(w.post("b", keyed("3"))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := w.record(alice, "", "3").State; got != semel.StateNone {
		t.Errorf("the refused key has a record: %v", got)
	}
	replays(t, first, w.post("b", keyed("1"))) // also when nothing is left
	w.post("other", keyed("1")).isProblem(t, 422, "key-reused")
	w.post("b", keyed("3"), as(bob)).is(t, 201, "b")
	clock.Advance(30*time.Second - 1)
	w.post("b", keyed("3")).isProblem(t, 503, "overloaded")
	clock.Advance(1)
	w.post("b", keyed("3")).is(t, 201, "b")
	w.post("b", keyed("4")).isProblem(t, 503, "overloaded")
	clock.Advance(time.Hour) // what is saved up has a bound
	for i, status := range []int{201, 201, 503} {
		if got := w.post("b", keyed(fmt.Sprint("late-", i))).StatusCode; got != status {
			t.Errorf("key %d after an hour: %d, want %d", i, got, status)
		}
	}
}

// A key that was released is not new.
func TestQuotaOfReleasedKeys(t *testing.T) {
	t.Parallel()
	w, _ := metered(t, semelhttp.Quota{NewKeysPerMinute: 2}, semelhttp.Options{}, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) })
	for range 3 {
		w.post("b").is(t, 500, "")
	}
	w.post("b", keyed("2")).is(t, 500, "")
	w.post("b", keyed("3")).isProblem(t, 503, "overloaded")
	w.ran(4)
}

// A key that one bound refuses uses nothing up of the other.
func TestQuotaOfBoth(t *testing.T) {
	t.Parallel()
	w, clock := metered(t, semelhttp.Quota{NewKeysPerMinute: 2, Records: 1}, semelhttp.Options{Lease: time.Second, Retention: 2 * time.Second}, echo)
	w.post("b", keyed("1")).is(t, 201, "b")
	for range 5 {
		w.post("b", keyed("2")).isProblem(t, 503, "overloaded")
	}
	clock.Advance(3 * time.Second)
	w.post("b", keyed("2")).is(t, 201, "b")
}

// Records that have not expired.
func TestQuotaOfRecords(t *testing.T) {
	t.Parallel()
	w, clock := metered(t, semelhttp.Quota{Records: 2}, semelhttp.Options{Retention: 16 * time.Minute}, echo)
	first := w.post("b", keyed("1"))
	clock.Advance(5 * time.Minute)
	w.post("b", keyed("2")).is(t, 201, "b")
	refused := w.post("b", keyed("3"))
	refused.isProblem(t, 503, "overloaded")
	replays(t, first, w.post("b", keyed("1")))
	w.post("b", keyed("3"), as(bob)).is(t, 201, "b")
	wait, err := time.ParseDuration(refused.Header.Get("Retry-After") + "s")
	if err != nil || wait < 11*time.Minute || wait > 12*time.Minute {
		t.Errorf("Retry-After %q, with a record that expires in 11 minutes", refused.Header.Get("Retry-After"))
	}
	clock.Advance(wait)
	w.post("b", keyed("3")).is(t, 201, "b")
	w.post("b", keyed("4")).isProblem(t, 503, "overloaded")
}

// Records that stay for ever use the quota up for ever.
func TestQuotaForever(t *testing.T) {
	t.Parallel()
	w, clock := metered(t, semelhttp.Quota{Records: 1}, semelhttp.Options{Retention: semel.Forever}, echo)
	w.post("b", keyed("1")).is(t, 201, "b")
	clock.Advance(1000 * time.Hour)
	w.post("b", keyed("2")).isProblem(t, 503, "overloaded")
}

// A burst does not get past it, since keys are counted before they are claimed.
func TestQuotaUnderABurst(t *testing.T) {
	t.Parallel()
	const callers, quota = 32, 5
	w, _ := metered(t, semelhttp.Quota{NewKeysPerMinute: quota}, semelhttp.Options{}, echo)
	var burst sync.WaitGroup
	for i := range callers {
		req := w.request("POST", "/charges", "b", keyed(fmt.Sprint(i)))
		burst.Go(func() { w.do(req) })
	}
	burst.Wait()
	w.ran(quota)
}

// A store that is down uses nothing up, and is told as what it is.
func TestQuotaAndStoreDown(t *testing.T) {
	t.Parallel()
	w, _ := metered(t, semelhttp.Quota{NewKeysPerMinute: 1}, semelhttp.Options{}, echo)
	w.store.bend(func(s *faultStore) { s.claim = semel.ErrStoreUnavailable })
	for range 3 {
		w.post("b").isProblem(t, 503, "store-unavailable")
	}
	w.store.bend(func(s *faultStore) { s.claim = nil })
	w.post("b").is(t, 201, "b")
	w.store.bend(func(s *faultStore) { s.read, s.claim = errors.New("down"), semel.ErrStoreUnavailable })
	w.post("b", keyed("2")).isProblem(t, 503, "store-unavailable")
}

func TestQuotaObserved(t *testing.T) {
	t.Parallel()
	w := observe(t, semelhttp.Options{Quota: &semelhttp.Quota{NewKeysPerMinute: 1}}, echo)
	w.post("b", keyed("1"))
	<-w.settled
	w.post("b", keyed("2")).is(t, 201, "b")
	w.would("overloaded")
	w.post("b", keyed("1")).is(t, 201, "b")
	w.would("replay")
}

func TestQuotaSettings(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	e, _ := semel.New(store, nil)
	for want, q := range map[string]*semelhttp.Quota{"bound nothing": {}, "NewKeysPerMinute -1": {NewKeysPerMinute: -1, Records: 1}} {
		if _, err := semelhttp.New(e, semelhttp.Global, &semelhttp.Options{Quota: q}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
