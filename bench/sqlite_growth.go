package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/semel-go/semel/bench/internal/window"
)

// sqliteGrowthSuite compares cycles on a file with few records with cycles on one
// with many: nothing may cost more for what is stored.
func sqliteGrowthSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	table := &window.Table{
		Title: "SQLite, by number of stored records",
		Notes: []string{"The cycle of the first table, 128 callers, on files that hold this many records already."},
	}
	var contenders []window.Contender
	for _, n := range []int{1_000, 1_000_000} {
		store, err := openStore(ctx, filepath.Join(dir, fmt.Sprint(n)))
		if err != nil {
			return nil, err
		}
		defer store.Close()
		if err := fill(ctx, store, n); err != nil {
			return nil, err
		}
		contenders = append(contenders, window.Contender{Name: fmt.Sprintf("%d records", n), Cycle: storeCycle(store, 24*time.Hour)})
	}
	cfg.Callers = 128
	figures, err := window.Run(ctx, cfg, contenders...)
	if err != nil {
		return nil, err
	}
	table.Add("128 callers", figures)
	return table, nil
}
