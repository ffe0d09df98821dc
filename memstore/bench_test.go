package memstore_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// BenchmarkCycle is a claim of a new key and a finish with 300 bytes. It prints
// what a key takes, as counted and in truth, and the collector's longest pause.
func BenchmarkCycle(b *testing.B) {
	store := newStore(b, &memstore.Options{MaxBytes: 64 << 30})
	result := make([]byte, 300)
	heap, stops := heapInUse(), pauses()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		cycle(b, store, randomKey(i), result)
	}
	b.ReportMetric(longest(stops, pauses()), "pause-max-µs")
	st := store.Stats()
	b.ReportMetric(float64(heapInUse()-heap)/float64(st.Records), "heap-B/key")
	b.ReportMetric(float64(st.Bytes)/float64(st.Records), "counted-B/key")
	runtime.KeepAlive(store)
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

// BenchmarkCollection is a run of the garbage collector over a store: with a
// million records, the world must stand still no longer than with none.
func BenchmarkCollection(b *testing.B) {
	for name, records := range map[string]int{"empty": 0, "million": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			store := newStore(b, &memstore.Options{MaxBytes: 64 << 30})
			result := make([]byte, 300)
			for i := range records {
				cycle(b, store, randomKey(i), result)
			}
			before := pauses()
			for b.Loop() {
				runtime.GC()
			}
			b.ReportMetric(longest(before, pauses()), "pause-max-µs")
			runtime.KeepAlive(store)
		})
	}
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

// pauses returns how often the collector stopped the world, and for how long.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// longest returns the longest pause between two readings in µs: the upper end of
// its bucket.
func longest(before, after *metrics.Float64Histogram) float64 {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			return after.Buckets[i+1] * 1e6
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
