package main

import (
	"context"
	"fmt"

	"github.com/semel-go/semel/bench/internal/window"
)

// postgresHotSuite compares what duplicates cost that come at the same time.
func postgresHotSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	p, err := openPostgresPrograms(ctx, &cfg, "hot")
	if err != nil {
		return nil, err
	}
	defer p.close(ctx)
	table := &window.Table{
		Title: "PostgreSQL, the same key at once",
		Notes: []string{hotNote},
	}
	cfg.Callers = 128
	for _, width := range []int64{1, 8} {
		figures, err := window.Run(ctx, cfg,
			window.Contender{Name: "naive, one transaction", Cycle: p.naive.hot(newHotKeys(width))},
			window.Contender{Name: "Semel, database/sql", Cycle: hotCycle(p.sql, newHotKeys(width))},
			window.Contender{Name: "Semel, pgx", Cycle: hotCycle(p.pgx, newHotKeys(width))},
		)
		if err != nil {
			return nil, err
		}
		table.Add(hotLoad(width), figures)
	}
	return table, nil
}

const hotNote = "A cycle is a request; each key is asked for 128 times, one key after the other or eight at a time. The first runs, the others are told that it is running or done."

func hotLoad(width int64) string {
	if width == 1 {
		return "128 callers, one key"
	}
	return fmt.Sprintf("128 callers, %d keys", width)
}
