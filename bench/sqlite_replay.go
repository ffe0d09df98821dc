package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
)

// stored is the number of finished records that are asked for again.
const stored = 10_000

// sqliteReplaySuite compares claims of keys that are done already.
func sqliteReplaySuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	n, err := openNaive(filepath.Join(dir, "naive.db"))
	if err != nil {
		return nil, err
	}
	defer n.db.Close()
	store, err := openStore(ctx, filepath.Join(dir, "semel.db"))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if err := fill(ctx, store, stored); err != nil {
		return nil, err
	}
	if err := n.fillSQLite(ctx, stored); err != nil {
		return nil, err
	}
	table := &window.Table{
		Title: "SQLite, replays",
		Notes: []string{"A cycle is the claim of a key that is done, answered with 300 bytes. *Naive* is its SELECT."},
	}
	return table, underLoad(ctx, cfg, table, []window.Contender{
		{Name: "naive", Cycle: n.replay},
		{Name: "Semel", Cycle: storedCycle(store)},
	}, 1, 16, 128)
}

// storedKey is one of the keys that fillSQLite and fillNaive store.
func storedKey() string { return storedKeyOf(rand.IntN(stored)) }

func storedKeyOf(n int) string { return fmt.Sprintf("key-%022d", n*7919%1_000_000_007) }

func numbered(n int) (key semel.KeyID) {
	copy(key[:], fmt.Sprintf("%016d", n*7919%1_000_000_007))
	return key
}

// fill finishes n numbered keys.
func fill(ctx context.Context, store semel.Store, n int) error {
	const callers = 256
	errs := make([]error, callers)
	var wait sync.WaitGroup
	for c := range callers {
		wait.Go(func() {
			for i := c; i < n && errs[c] == nil; i += callers {
				errs[c] = cycle(ctx, store, numbered(i), 24*time.Hour)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// replay claims one of the stored keys.
func replay(ctx context.Context, store semel.Store) error {
	res, err := store.Claim(ctx, semel.ClaimParams{
		Key: numbered(rand.IntN(stored)), Token: semel.NewToken(), Policy: semel.AtLeastOnce, Lease: 30 * time.Second, Retention: 24 * time.Hour,
	})
	if err == nil && (res.Outcome != semel.ClaimDone || len(res.Record.Result.Data) != payload) {
		err = fmt.Errorf("a key that is done is %v", res.Outcome)
	}
	return err
}
