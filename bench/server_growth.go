package main

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
)

const growthNote = "The cycle of the first table, 128 callers, beside this many records; what is measured adds to both."

// postgresGrowthSuite compares cycles beside few records with cycles beside many:
// nothing may cost more for what is stored.
func postgresGrowthSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	var contenders []window.Contender
	for _, n := range []int{1_000, 1_000_000} {
		p, err := openPostgres(ctx, &cfg, fmt.Sprint("growth_", n))
		if err != nil {
			return nil, err
		}
		defer p.close(ctx)
		store, err := p.store(ctx)
		if err != nil {
			return nil, err
		}
		if err := p.fillRecords(ctx, n, forever); err != nil {
			return nil, err
		}
		contenders = append(contenders, grown(n, store))
	}
	return growthTable(ctx, cfg, "PostgreSQL, by number of stored records", contenders)
}

// mariadbGrowthSuite is that of PostgreSQL.
func mariadbGrowthSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	var contenders []window.Contender
	for _, n := range []int{1_000, 1_000_000} {
		m, err := openMariaDB(ctx, &cfg, fmt.Sprint("growth_", n))
		if err != nil {
			return nil, err
		}
		defer m.close(ctx)
		store, err := m.store(ctx, nil)
		if err != nil {
			return nil, err
		}
		if err := m.fillRecords(ctx, n, forever); err != nil {
			return nil, err
		}
		contenders = append(contenders, grown(n, store))
	}
	return growthTable(ctx, cfg, "MariaDB, by number of stored records", contenders)
}

func grown(records int, store semel.Store) window.Contender {
	return window.Contender{Name: fmt.Sprintf("%d records", records), Cycle: storeCycle(store, 24*time.Hour)}
}

func growthTable(ctx context.Context, cfg window.Config, title string, contenders []window.Contender) (*window.Table, error) {
	table := &window.Table{Title: title, Notes: []string{growthNote}}
	return table, underLoad(ctx, cfg, table, contenders, 128)
}
