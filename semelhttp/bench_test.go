package semelhttp_test

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// charge is what the benchmarks guard: a small JSON API.
func charge(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Location", "/charges/7")
	w.WriteHeader(http.StatusCreated)
	w.Write(chargeAnswer)
}

var chargeAnswer = bytes.Repeat([]byte("0123456789"), 30)

// discard is a ResponseWriter without a network.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// benchmark serves one request after the other; key names each of them.
func benchmark(tb testing.TB, guarded bool, key func(i int) string) (serve func(i int)) {
	h := http.Handler(http.HandlerFunc(charge))
	if guarded {
		store, err := memstore.New(nil)
		if err != nil {
			tb.Fatal(err)
		}
		engine, err := semel.New(store, nil)
		if err != nil {
			tb.Fatal(err)
		}
		guard, err := semelhttp.New(engine, semelhttp.HeaderPrincipal("Authorization"), nil)
		if err != nil {
			tb.Fatal(err)
		}
		h = guard(h)
	}
	payload := bytes.NewReader([]byte(`{"amount":10,"currency":"EUR"}`))
	body := io.NopCloser(payload)
	w := &discard{h: make(http.Header)}
	r, _ := http.NewRequest("POST", "/charges?expand=all", nil)
	r.Header.Set("Authorization", "Bearer alice")
	r.Header.Set("Content-Type", "application/json")
	line := make([]string, 1)
	r.Header["Idempotency-Key"] = line
	return func(i int) {
		clear(w.h)
		payload.Seek(0, io.SeekStart)
		r.Body, r.ContentLength = body, payload.Size()
		line[0] = key(i)
		h.ServeHTTP(w, r)
	}
}

func fresh(i int) string { return "key-" + strconv.Itoa(i) }
func same(int) string    { return "key" }

func BenchmarkBare(b *testing.B)   { run(b, benchmark(b, false, fresh)) }
func BenchmarkNew(b *testing.B)    { run(b, benchmark(b, true, fresh)) }
func BenchmarkReplay(b *testing.B) { run(b, benchmark(b, true, same)) }

func run(b *testing.B, serve func(int)) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		serve(i)
	}
}

// A guarded request adds at most 12 allocations to those of the bare handler.
func TestAllocations(t *testing.T) {
	if raceEnabled() {
		t.Log("the race detector allocates by itself; the bound is checked without it")
		return
	}
	measure := func(guarded bool, key func(int) string) float64 {
		serve, i := benchmark(t, guarded, key), 0
		serve(i)
		return testing.AllocsPerRun(2000, func() { i++; serve(i) })
	}
	bare, fresh, replay := measure(false, fresh), measure(true, fresh), measure(true, same)
	t.Logf("allocations: bare %v, new %v, replay %v", bare, fresh, replay)
	if fresh-bare > 12 || replay-bare > 12 {
		t.Errorf("a new request adds %v allocations, a replay %v; the limit is 12", fresh-bare, replay-bare)
	}
}
