package semeltest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// shop counts its charges.
type shop struct{ charges atomic.Int64 }

func (s *shop) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	n := s.charges.Add(1)
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"charge":%d}`, n)
}

func (s *shop) count() int { return int(s.charges.Load()) }

// verdict is a TB that keeps what it is told.
type verdict struct {
	failures []string
	ctx      context.Context // nil: no end
}

func (*verdict) Helper() {}

func (v *verdict) Context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

func (v *verdict) Errorf(format string, args ...any) {
	v.failures = append(v.failures, fmt.Sprintf(format, args...))
}

func guarded(next http.Handler) (http.Handler, error) {
	store, err := memstore.New(nil)
	if err != nil {
		return nil, err
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		return nil, err
	}
	once, err := semelhttp.New(engine, semelhttp.Global, nil)
	if err != nil {
		return nil, err
	}
	return once(next), nil
}

func payment() *http.Request {
	req := httptest.NewRequest("POST", "/charges?x=1", strings.NewReader(`{"cents":1000}`))
	req.Header.Set("Idempotency-Key", "k-1")
	return req
}

func TestGuardedHandlerPasses(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := new(shop)
		handler, err := guarded(s)
		if err != nil {
			t.Fatal(err)
		}
		semeltest.OnceUnderFire(t, handler, payment(), s.count)
	}
}

func TestBrokenHandlersFail(t *testing.T) {
	t.Parallel()
	s := new(shop)
	asked := new(atomic.Int64)
	tests := []struct {
		name    string
		handler http.Handler
		want    string
	}{
		{"unguarded", s, "want once"},
		{"guarded, but never runs", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "done") }), "took effect 0 times"},
		{"once, but duplicates get another answer", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := asked.Add(1); n > 1 {
				fmt.Fprint(w, n)
				return
			}
			s.ServeHTTP(w, r)
		}), "another one"},
	}
	for _, tt := range tests {
		v := new(verdict)
		semeltest.OnceUnderFire(v, tt.handler, payment(), s.count)
		if all := strings.Join(v.failures, "\n"); !strings.Contains(all, tt.want) {
			t.Errorf("%s: %q does not say %q", tt.name, all, tt.want)
		}
	}
}

// A handler that never gives a final answer is reported, not waited for.
func TestEndlessInProgressIsReported(t *testing.T) {
	t.Parallel()
	never := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusConflict)
	})
	ctx, cancel := context.WithCancel(t.Context())
	asked := new(atomic.Int64)
	v := &verdict{ctx: ctx}
	semeltest.OnceUnderFire(v, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 30 {
			cancel() // as if the 30 seconds were over
		}
		never.ServeHTTP(w, r)
	}), payment(), new(shop).count)
	if all := strings.Join(v.failures, "\n"); !strings.Contains(all, "no final answer") {
		t.Errorf("got %q", all)
	}
}

func TestRequestWithoutReadableBodyIsRefused(t *testing.T) {
	t.Parallel()
	req := payment()
	req.Body = http.NoBody
	v := new(verdict)
	req.Body = brokenBody{}
	semeltest.OnceUnderFire(v, new(shop), req, new(shop).count)
	if len(v.failures) != 1 || !strings.Contains(v.failures[0], "cannot be read") {
		t.Errorf("got %q", v.failures)
	}
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("broken") }
func (brokenBody) Close() error             { return nil }

// An unguarded handler fails the test.
func ExampleOnceUnderFire_failing() {
	s := new(shop)
	t := new(verdict) // a *testing.T in a test
	semeltest.OnceUnderFire(t, s, payment(), s.count)
	fmt.Println("charged once:", s.count() == 1)
	fmt.Println("passed:", len(t.failures) == 0)
	// Output:
	// charged once: false
	// passed: false
}

// The same handler behind semelhttp passes.
func ExampleOnceUnderFire() {
	s := new(shop)
	handler, err := guarded(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	t := new(verdict) // a *testing.T in a test
	semeltest.OnceUnderFire(t, handler, payment(), s.count)
	fmt.Println("charged once:", s.count() == 1)
	fmt.Println("passed:", len(t.failures) == 0)
	// Output:
	// charged once: true
	// passed: true
}
