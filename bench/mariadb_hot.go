package main

import (
	"context"

	"github.com/semel-go/semel/bench/internal/window"
)

// mariadbHotSuite compares what duplicates cost that come at the same time.
func mariadbHotSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	m, err := openMariaDBPrograms(ctx, &cfg, "hot")
	if err != nil {
		return nil, err
	}
	defer m.close(ctx)
	table := &window.Table{
		Title: "MariaDB, the same key at once",
		Notes: []string{hotNote},
	}
	cfg.Callers = 128
	for _, width := range []int64{1, 8} {
		figures, err := window.Run(ctx, cfg,
			window.Contender{Name: "naive, one transaction", Cycle: m.naive.hot(newHotKeys(width))},
			window.Contender{Name: "Semel", Cycle: hotCycle(m.semel, newHotKeys(width))},
		)
		if err != nil {
			return nil, err
		}
		table.Add(hotLoad(width), figures)
	}
	return table, nil
}
