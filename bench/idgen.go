package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/memstore"
)

// idsPerCycle is how many ids a cycle makes, so that it is more than its measuring.
const idsPerCycle = 1000

// idsSuite compares ids with what the usual libraries make, each under its defaults.
func idsSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	table := &window.Table{
		Title: "Ids",
		Notes: []string{
			"A cycle makes 1,000 ids. *google/uuid* is NewV7; *oklog/ulid* is ulid.Make, which is monotonic behind a lock. *mutex* is the usual Snowflake code: a mutex, a worker id that",
			"somebody has to configure, and a busy loop when a millisecond is full. It and *Node* are at the limit of their layout, 4,096 ids a millisecond, so look at the CPU time.",
		},
	}
	kinds := []func() ([]window.Contender, func() error, error){uuidContenders, ulidContenders, snowflakeContenders}
	for _, kind := range kinds {
		contenders, done, err := kind()
		if err != nil {
			return nil, err
		}
		err = underLoad(ctx, cfg, table, contenders, 1, 16)
		if err := errors.Join(err, done()); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// idCycle makes the ids of a cycle.
func idCycle(next func() error) func(context.Context, int) error {
	return func(context.Context, int) error {
		for range idsPerCycle {
			if err := next(); err != nil {
				return err
			}
		}
		return nil
	}
}

func nothing() error { return nil }

func uuidContenders() ([]window.Contender, func() error, error) {
	var uuids idgen.UUIDs
	return []window.Contender{
		{Name: "google/uuid", Cycle: idCycle(func() error { _, err := uuid.NewV7(); return err })},
		{Name: "UUIDs", Cycle: idCycle(func() error { uuids.New(); return nil })},
	}, nothing, nil
}

func ulidContenders() ([]window.Contender, func() error, error) {
	var ulids idgen.ULIDs
	return []window.Contender{
		{Name: "oklog/ulid", Cycle: idCycle(func() error { ulid.Make(); return nil })},
		{Name: "ULIDs", Cycle: idCycle(func() error { _, err := ulids.New(); return err })},
	}, nothing, nil
}

func snowflakeContenders() ([]window.Contender, func() error, error) {
	store, err := memstore.New(nil)
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	node, err := idgen.NewNode(ctx, store, nil)
	if err != nil {
		return nil, nil, err
	}
	usual := &mutexSnowflake{}
	return []window.Contender{
		{Name: "mutex", Cycle: idCycle(func() error { usual.next(); return nil })},
		{Name: "Node", Cycle: idCycle(func() error { _, err := node.Next(ctx); return err })},
	}, func() error { return node.Close(ctx) }, nil
}

// mutexSnowflake is what people write.
type mutexSnowflake struct {
	mu       sync.Mutex
	last     int64
	sequence int64
}

func (s *mutexSnowflake) next() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UnixMilli()
	if now == s.last {
		s.sequence = (s.sequence + 1) & 4095
		for s.sequence == 0 && now <= s.last {
			now = time.Now().UnixMilli()
		}
	} else {
		s.sequence = 0
	}
	s.last = now
	return (now-1_735_689_600_000)<<22 | 1<<12 | s.sequence
}
