package main

import (
	"context"
	"errors"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
)

var replayNotes = []string{
	"A cycle is the claim of a key that is done, answered with 300 bytes. *SELECT* is that of the naive code. *Local cache* is semel.Do by an engine that",
	"keeps results in memory, on one key.",
}

// postgresReplaySuite compares claims of keys that are done already.
func postgresReplaySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	p, err := openPostgresPrograms(ctx, &cfg, "replay")
	if err != nil {
		return nil, err
	}
	defer p.close(ctx)
	if err := errors.Join(p.fillRecords(ctx, stored, forever), p.fillNaive(ctx, stored)); err != nil {
		return nil, err
	}
	engine, err := semel.New(p.sql, &semel.Options{Cache: 1 << 20})
	if err != nil {
		return nil, err
	}
	defer engine.Close(ctx)
	table := &window.Table{Title: "PostgreSQL, replays", Notes: replayNotes}
	return table, underLoad(ctx, cfg, table, []window.Contender{
		{Name: "SELECT", Cycle: p.naive.replay},
		{Name: "Semel, database/sql", Cycle: storedCycle(p.sql)},
		{Name: "Semel, pgx", Cycle: storedCycle(p.pgx)},
		{Name: "Semel, local cache", Cycle: replayCycle(engine)},
	}, 1, 16, 128)
}

// mariadbReplaySuite compares claims of keys that are done already.
func mariadbReplaySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	m, err := openMariaDBPrograms(ctx, &cfg, "replay")
	if err != nil {
		return nil, err
	}
	defer m.close(ctx)
	if err := errors.Join(m.fillRecords(ctx, stored, forever), m.fillNaive(ctx, stored)); err != nil {
		return nil, err
	}
	engine, err := semel.New(m.semel, &semel.Options{Cache: 1 << 20})
	if err != nil {
		return nil, err
	}
	defer engine.Close(ctx)
	table := &window.Table{Title: "MariaDB, replays", Notes: replayNotes}
	return table, underLoad(ctx, cfg, table, []window.Contender{
		{Name: "SELECT", Cycle: m.naive.replay},
		{Name: "Semel", Cycle: storedCycle(m.semel)},
		{Name: "Semel, local cache", Cycle: replayCycle(engine)},
	}, 1, 16, 128)
}

// storedCycle claims one of the stored keys.
func storedCycle(store semel.Store) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error { return replay(ctx, store) }
}
