package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
)

// redisSuite compares cycles (claim of a new key, finish with 300 bytes) on Redis.
func redisSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	r, err := openRedis(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	store, err := r.store(ctx)
	if err != nil {
		return nil, err
	}
	size, err := r.recordSize(ctx, store)
	if err != nil {
		return nil, err
	}
	naive := &naiveRedis{r.client()}
	table := &window.Table{
		Title: "Redis",
		Notes: []string{
			"A cycle is the claim of a new key and a finish with 300 bytes, kept for 24 h; one server, appendfsync everysec, go-redis, pools of",
			fmt.Sprintf("%d connections. *Naive* is the usual code: GET, SETNX, and later SET. *Scripts* are the two transitions with an owner token, one call each;", connections),
			"redis-benchmark sends pairs of SET, 16 in a pipeline: what the server can do.",
			fmt.Sprintf("A record of Semel with its result takes %d bytes of memory.", size),
		},
	}
	for _, callers := range []int{1, 16, 128} {
		cfg.Callers = callers
		figures, err := window.Run(ctx, cfg,
			window.Contender{Name: "naive", Cycle: naive.cycle},
			window.Contender{Name: "scripts", Cycle: naive.cycleScripts},
			window.Contender{Name: "Semel", Cycle: storeCycle(store, kept)},
		)
		if err != nil {
			return nil, err
		}
		tool, err := runRedisBenchmark(ctx, cfg, r.options)
		if err != nil {
			return nil, err
		}
		table.Add(window.Callers(callers), append(figures, tool))
	}
	return table, nil
}

// recordSize is the memory of a record with a result, from many of them.
func (r *redisServer) recordSize(ctx context.Context, store semel.Store) (int64, error) {
	before, err := r.used(ctx)
	if err != nil {
		return 0, err
	}
	if err := fill(ctx, store, stored); err != nil {
		return 0, err
	}
	after, err := r.used(ctx)
	return (after - before) / stored, err
}

// redisReplaySuite compares claims of keys that are done already.
func redisReplaySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	r, err := openRedis(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	store, err := r.store(ctx)
	if err != nil {
		return nil, err
	}
	naive := &naiveRedis{r.client()}
	if err := errors.Join(fill(ctx, store, stored), naive.fill(ctx)); err != nil {
		return nil, err
	}
	engine, err := semel.New(store, &semel.Options{Cache: 1 << 20})
	if err != nil {
		return nil, err
	}
	defer engine.Close(ctx)
	table := &window.Table{
		Title: "Redis, replays",
		Notes: []string{"A cycle is the claim of a key that is done, answered with 300 bytes. *Local cache* is semel.Do by an engine that keeps results in memory, on one key."},
	}
	return table, underLoad(ctx, cfg, table, []window.Contender{
		{Name: "GET", Cycle: naive.replay},
		{Name: "Semel", Cycle: storedCycle(store)},
		{Name: "Semel, local cache", Cycle: replayCycle(engine)},
	}, 1, 16, 128)
}
