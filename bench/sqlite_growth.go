package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
		contenders = append(contenders, grown(n, store))
	}
	return growthTable(ctx, cfg, "SQLite, by number of stored records", contenders)
}
