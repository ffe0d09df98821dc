package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/semel-go/semel/bench/internal/window"
)

// sqliteSuite compares cycles (claim of a new key, finish with 300 bytes) on one
// SQLite file each, all with WAL and synchronous=FULL.
func sqliteSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	table := &window.Table{
		Title: "SQLite",
		Notes: []string{
			"A cycle is the claim of a new key and a finish with 300 bytes, kept for 24 h; WAL, synchronous=FULL, modernc.org/sqlite. *Naive* is the usual code:",
			"SELECT, a transaction with the INSERT, later one with the UPDATE. *Single statements* is the best one can do without batches: a prepared",
			"INSERT … ON CONFLICT DO NOTHING, and a prepared UPDATE, each its own transaction. Both go through one connection, which is faster for them than several.",
		},
	}
	for _, callers := range []int{1, 16, 128} {
		cfg.Callers = callers
		figures, err := sqliteRun(ctx, cfg, filepath.Join(dir, fmt.Sprint(callers)))
		if err != nil {
			return nil, err
		}
		table.Add(window.Callers(callers), figures)
	}
	return table, nil
}

func sqliteRun(ctx context.Context, cfg window.Config, base string) ([]window.Figure, error) {
	naive, err := openNaive(base + "-naive.db")
	if err != nil {
		return nil, err
	}
	defer naive.db.Close()
	single, err := openNaive(base + "-single.db")
	if err != nil {
		return nil, err
	}
	defer single.db.Close()
	if err := single.prepare(ctx, sqliteInsertOnce); err != nil {
		return nil, err
	}
	store, err := openStore(ctx, base+"-semel.db")
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return window.Run(ctx, cfg,
		window.Contender{Name: "naive", Cycle: naive.cycle},
		window.Contender{Name: "single statements", Cycle: single.cycleSingle},
		window.Contender{Name: "Semel", Cycle: storeCycle(store, 24*time.Hour)},
	)
}
