package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/memstore"
)

// memorySuite compares the memory store, and the engine on it, with the map that
// people keep instead. The map forgets nothing, renews nothing and loses its key
// when a handler panics.
func memorySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	table := &window.Table{
		Title: "Memory store",
		Notes: []string{
			"A cycle is the claim of a new key and a finish with 300 bytes, kept for 2 s so that memory stays level. The map is a sync.Map with LoadOrStore, and",
			"LoadAndDelete 65,536 keys later. *Store* is memstore alone, *engine* is semel.Do with JSON, fingerprint, renewal and observer seam.",
		},
	}
	for _, callers := range []int{1, 16} {
		store, err := memstore.New(&memstore.Options{MaxBytes: 4 << 30})
		if err != nil {
			return nil, err
		}
		engine, err := semel.New(store, &semel.Options{Lease: time.Second, ClaimTimeout: time.Second / 2, Retention: 2 * time.Second})
		if err != nil {
			return nil, err
		}
		cfg.Callers = callers
		figures, err := window.Run(ctx, cfg,
			window.Contender{Name: "sync.Map", Cycle: mapCycle(callers)},
			window.Contender{Name: "store", Cycle: memoryCycle(store)},
			window.Contender{Name: "engine", Cycle: doCycle(engine)},
		)
		if err != nil {
			return nil, err
		}
		table.Add(window.Callers(callers), figures)
		if err := engine.Close(ctx); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// mapCycle keeps the last 65,536 keys of each caller.
func mapCycle(callers int) func(context.Context, int) error {
	var m sync.Map
	type ring struct {
		keys [1 << 16]semel.KeyID
		next int
	}
	rings := make([]ring, callers)
	return func(_ context.Context, caller int) error {
		var key semel.KeyID
		rand.Read(key[:])
		if _, taken := m.LoadOrStore(key, (*[]byte)(nil)); taken {
			return fmt.Errorf("a new key is taken")
		}
		result := make([]byte, payload)
		m.Store(key, &result)
		r := &rings[caller]
		m.LoadAndDelete(r.keys[r.next%len(r.keys)])
		r.keys[r.next%len(r.keys)] = key
		r.next++
		return nil
	}
}

func memoryCycle(store semel.Store) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		var key semel.KeyID
		rand.Read(key[:])
		return cycle(ctx, store, key, 2*time.Second)
	}
}

// doCycle runs a new operation through the engine.
func doCycle(engine *semel.Engine) func(context.Context, int) error {
	work := func(context.Context) (string, error) { return answerBody, nil }
	return func(ctx context.Context, _ int) error {
		op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "bench"}, rand.Text()), Input: semel.NoInput}
		res, err := semel.Do(ctx, engine, op, work)
		if err == nil && res.Replayed {
			return fmt.Errorf("a new key was replayed")
		}
		return err
	}
}
