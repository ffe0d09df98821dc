package main

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/sqlstore"
)

// mariadbSuite compares cycles (claim of a new key, finish with 300 bytes) on
// MariaDB with durable commits.
func mariadbSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	m, err := openMariaDBPrograms(ctx, &cfg, "cycles")
	if err != nil {
		return nil, err
	}
	defer m.close(ctx)
	version, err := m.version(ctx)
	if err != nil {
		return nil, err
	}
	alone, err := m.store(ctx, &sqlstore.Options{MaxBatch: 1})
	if err != nil {
		return nil, err
	}
	table := &window.Table{
		Title: "MariaDB",
		Notes: []string{
			fmt.Sprintf("A cycle is the claim of a new key and a finish with 300 bytes, kept for 24 h; MariaDB %s, innodb_flush_log_at_trx_commit 1, no binary log,", version),
			fmt.Sprintf("go-sql-driver/mysql, pools of %d connections. The naive and the single statements are those of PostgreSQL's table; mariadb-slap sends the", connections),
			"single ones as text. *MaxBatch 1* is Semel without coalescing.",
		},
	}
	contenders := []window.Contender{
		{Name: "naive, one transaction", Cycle: m.naive.cycleInOne},
		{Name: "naive, two transactions", Cycle: m.naive.cycle},
		{Name: "single statements", Cycle: m.naive.cycleSingle},
		{Name: "Semel", Cycle: storeCycle(m.semel, 24*time.Hour)},
		{Name: "Semel, MaxBatch 1", Cycle: storeCycle(alone, 24*time.Hour)},
	}
	for _, callers := range []int{1, 4, 8, 16, 128} {
		cfg.Callers = callers
		figures, err := window.Run(ctx, cfg, contenders...)
		if err != nil {
			return nil, err
		}
		tool, err := runSlap(ctx, cfg, m.dsn)
		if err != nil {
			return nil, err
		}
		table.Add(window.Callers(callers), append(figures, tool))
	}
	return table, nil
}
