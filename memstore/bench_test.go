package memstore_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// BenchmarkCycle is a claim of a new key and a finish with 300 bytes. It prints
// what a key takes and the longest pause of the garbage collector meanwhile.
func BenchmarkCycle(b *testing.B) {
	store := newStore(b, &memstore.Options{MaxBytes: 64 << 30})
	result := make([]byte, 300)
	before := heapInUse()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		cycle(b, store, randomKey(i), result)
	}
	b.StopTimer()
	report(b, store, before)
}

// BenchmarkCycleParallel is the same from all processors at once.
func BenchmarkCycleParallel(b *testing.B) {
	store := newStore(b, &memstore.Options{MaxBytes: 64 << 30})
	result := make([]byte, 300)
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			cycle(b, store, randomKey(int(next.Add(1))), result)
		}
	})
}

// BenchmarkMillion holds a million finished records and goes on with cycles, with
// the collector run again and again: gc-pause-max-µs is what a caller could feel.
func BenchmarkMillion(b *testing.B) {
	store := newStore(b, &memstore.Options{MaxBytes: 64 << 30})
	result := make([]byte, 300)
	before := heapInUse()
	for i := range 1_000_000 {
		cycle(b, store, randomKey(i), result)
	}
	report(b, store, before)
	var slowest time.Duration
	start := 1_000_000
	for b.Loop() {
		began := time.Now()
		cycle(b, store, randomKey(start), result)
		slowest = max(slowest, time.Since(began))
		if start++; start%100_000 == 0 {
			go runtime.GC()
		}
	}
	b.ReportMetric(float64(slowest.Microseconds()), "slowest-cycle-µs")
	b.ReportMetric(longestPause(), "gc-pause-max-µs")
}

// BenchmarkReplay is a claim that finds the record done.
func BenchmarkReplay(b *testing.B) {
	store := newStore(b, nil)
	cycle(b, store, randomKey(0), make([]byte, 300))
	p := claimOf(randomKey(0))
	b.ReportAllocs()
	for b.Loop() {
		if res, err := store.Claim(b.Context(), p); err != nil || res.Outcome != semel.ClaimDone {
			b.Fatal(res.Outcome, err)
		}
	}
}

func cycle(tb testing.TB, store *memstore.Store, key semel.KeyID, result []byte) {
	p := claimOf(key)
	if res, err := store.Claim(tb.Context(), p); err != nil || res.Outcome != semel.ClaimAcquired {
		tb.Error(res.Outcome, err)
	}
	_, err := store.Finish(tb.Context(), semel.FinishParams{
		Key: key, Token: p.Token, State: semel.StateDone, Retention: p.Retention,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: result},
	})
	if err != nil {
		tb.Error(err)
	}
}

func report(b *testing.B, store *memstore.Store, before uint64) {
	st := store.Stats()
	runtime.GC()
	held := heapInUse() - before
	b.ReportMetric(float64(held)/float64(st.Records), "heap-B/key")
	b.ReportMetric(float64(st.Bytes)/float64(st.Records), "counted-B/key")
	b.ReportMetric(longestPause(), "gc-pause-max-µs")
	runtime.KeepAlive(store)
}

// longestPause returns the longest stop of the world so far in µs, as an upper
// bound of its histogram bucket.
func longestPause() float64 {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	for i := len(h.Counts) - 1; i >= 0; i-- {
		if h.Counts[i] > 0 {
			return h.Buckets[i+1] * 1e6
		}
	}
	return 0
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// randomKey is spread as hashed keys are.
func randomKey(i int) semel.KeyID {
	rng := rand.NewPCG(uint64(i), 0)
	var key semel.KeyID
	binary.LittleEndian.PutUint64(key[:8], rng.Uint64())
	binary.LittleEndian.PutUint64(key[8:], rng.Uint64())
	return key
}
