package admin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/admin"
	"github.com/semel-go/semel/memstore"
)

// brokenStore fails the calls that it is told to.
type brokenStore struct {
	semel.Store
	claims    atomic.Int64
	down      atomic.Bool
	forgetful atomic.Bool
}

func (s *brokenStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	s.claims.Add(1)
	if s.down.Load() {
		return semel.ClaimResult{}, semel.ErrStoreUnavailable
	}
	if s.forgetful.Load() {
		p.Key[0] ^= byte(s.claims.Load()) // another record each time
	}
	return s.Store.Claim(ctx, p)
}

func (s *brokenStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	if s.forgetful.Load() {
		return semel.FinishResult{}, nil
	}
	return s.Store.Finish(ctx, p)
}

func newChecked(t *testing.T, tell func(error)) (*brokenStore, *admin.Admin) {
	t.Helper()
	mem, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	store := &brokenStore{Store: mem}
	engine, err := semel.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := engine.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return store, admin.New(admin.NewChecker(engine, func() error { return nil }, tell).Check, http.NotFoundHandler())
}

func get(a *admin.Admin, path string) (int, string) {
	rec := httptest.NewRecorder()
	a.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec.Code, rec.Body.String()
}

func TestReadyMeansThatAReplayWorks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, a := newChecked(t, func(error) {})
		if code, body := get(a, "/readyz"); code != 200 || body != "ready\n" {
			t.Fatalf("got %d %q", code, body)
		}
		if n := store.claims.Load(); n != 2 {
			t.Errorf("%d claims, want one that runs and one that replays", n)
		}
	})
}

func TestChecksAreNotRepeatedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told int
		store, a := newChecked(t, func(error) { told++ })
		for range 20 {
			get(a, "/readyz")
		}
		if told != 1 {
			t.Errorf("%d checks for 20 requests, want 1", told)
		}
		store.down.Store(true)
		time.Sleep(5 * time.Second) // the fake clock's
		if code, _ := get(a, "/readyz"); code != 503 {
			t.Errorf("got %d from a broken store, want 503", code)
		}
		if told != 2 {
			t.Errorf("%d checks, want 2", told)
		}
	})
}

func TestNotReadyWhenTheStoreIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told error
		store, a := newChecked(t, func(err error) { told = err })
		store.down.Store(true)
		code, body := get(a, "/readyz")
		if code != 503 || !strings.Contains(body, "unavailable") {
			t.Errorf("got %d %q", code, body)
		}
		if !errors.Is(told, semel.ErrStoreUnavailable) {
			t.Errorf("told %v", told)
		}
		if code, _ := get(a, "/healthz"); code != 200 {
			t.Errorf("/healthz says %d: a broken store is no reason to restart the process", code)
		}
	})
}

// Field fault: replay never worked in production and nobody noticed.
func TestNotReadyWhenReplaysDoNotWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, a := newChecked(t, func(error) {})
		store.forgetful.Store(true)
		code, body := get(a, "/readyz")
		if code != 503 || !strings.Contains(body, "not answered with the result of the first") {
			t.Errorf("got %d %q", code, body)
		}
	})
}

func TestNotReadyWhileStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, a := newChecked(t, func(error) {})
		a.Stopping()
		if code, body := get(a, "/readyz"); code != 503 || !strings.Contains(body, "stopping") {
			t.Errorf("got %d %q", code, body)
		}
	})
}
