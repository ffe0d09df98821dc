package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
)

// replaySuite compares replays from SQLite with those from the local cache.
func replaySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	store, err := openStore(ctx, filepath.Join(dir, "semel.db"))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	table := &window.Table{
		Title: "Replays by the engine",
		Notes: []string{"A cycle is semel.Do on a key that is done, with a result of 300 bytes. The record is in SQLite; *cache* is an engine with a local cache."},
	}
	for _, callers := range []int{1, 16} {
		cfg.Callers = callers
		figures, err := replayRun(ctx, cfg, store)
		if err != nil {
			return nil, err
		}
		table.Add(window.Callers(callers), figures)
	}
	return table, nil
}

func replayRun(ctx context.Context, cfg window.Config, store semel.Store) ([]window.Figure, error) {
	plain, err := semel.New(store, nil)
	if err != nil {
		return nil, err
	}
	defer plain.Close(ctx)
	cached, err := semel.New(store, &semel.Options{Cache: 1 << 20})
	if err != nil {
		return nil, err
	}
	defer cached.Close(ctx)
	return window.Run(ctx, cfg,
		window.Contender{Name: "store", Cycle: replayCycle(plain)},
		window.Contender{Name: "cache", Cycle: replayCycle(cached)},
	)
}

func replayCycle(engine *semel.Engine) func(context.Context, int) error {
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "bench"}, "replayed"), Input: semel.NoInput}
	return func(ctx context.Context, _ int) error {
		_, err := semel.Do(ctx, engine, op, func(context.Context) (string, error) { return answerBody, nil })
		return err
	}
}
