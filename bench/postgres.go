package main

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/pgxstore"
)

// postgresSuite compares cycles (claim of a new key, finish with 300 bytes) on
// PostgreSQL with durable commits.
func postgresSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	p, err := openPostgresPrograms(ctx, &cfg, "cycles")
	if err != nil {
		return nil, err
	}
	defer p.close(ctx)
	version, err := p.version(ctx)
	if err != nil {
		return nil, err
	}
	alone, err := p.pgxStore(ctx, &pgxstore.Options{MaxBatch: 1})
	if err != nil {
		return nil, err
	}
	table := &window.Table{
		Title: "PostgreSQL",
		Notes: []string{
			fmt.Sprintf("A cycle is the claim of a new key and a finish with 300 bytes, kept for 24 h; PostgreSQL %s, synchronous_commit on, pools of %d connections.", version, connections),
			"*Naive* is the usual code: SELECT, and a transaction with INSERT and UPDATE, open while the work is done; or two transactions, one before and one after. *Single",
			"statements* is the best one can do without batches: INSERT … ON CONFLICT DO NOTHING, and UPDATE, prepared, each its own transaction; pgbench runs the same.",
			"*MaxBatch 1* is Semel without coalescing.",
		},
	}
	contenders := []window.Contender{
		{Name: "naive, one transaction", Cycle: p.naive.cycleInOne},
		{Name: "naive, two transactions", Cycle: p.naive.cycle},
		{Name: "single statements", Cycle: p.naive.cycleSingle},
		{Name: "Semel, database/sql", Cycle: storeCycle(p.sql, 24*time.Hour)},
		{Name: "Semel, pgx", Cycle: storeCycle(p.pgx, 24*time.Hour)},
		{Name: "Semel, pgx, MaxBatch 1", Cycle: storeCycle(alone, 24*time.Hour)},
	}
	for _, callers := range []int{1, 4, 8, 16, 128} {
		cfg.Callers = callers
		figures, err := window.Run(ctx, cfg, contenders...)
		if err != nil {
			return nil, err
		}
		tool, err := runPgbench(ctx, cfg, p.url)
		if err != nil {
			return nil, err
		}
		table.Add(window.Callers(callers), append(figures, tool))
	}
	return table, nil
}
