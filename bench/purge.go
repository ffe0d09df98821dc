package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
)

// expired is the number of records that are purged in a run, and the best of
// purgeRuns counts.
const (
	expired   = 20_000
	purgeRuns = 3
)

// purgeSuite measures the deletion of expired records, in the chunks of the engine.
func purgeSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	table := &window.Table{
		Title: "Purge",
		Notes: []string{
			fmt.Sprintf("Deletion of %d expired records of 300 bytes, without other load. *One DELETE* is that of the naive table, which locks", expired),
			"all that it deletes until it ends; *Semel* goes in the chunks of its engine, 500 records each.",
		},
		Columns: []string{"database", "program", "a record", "CPU a record", "chunks", "longest chunk"},
	}
	for _, measure := range []func(context.Context, window.Config, *window.Table) error{purgePostgres, purgeMariaDB, purgeSQLite} {
		if err := measure(ctx, cfg, table); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// purged is what a purge took.
type purged struct {
	wall, cpu, longest time.Duration
	chunks             int
}

// longAgo is an expiry that is over.
const longAgo = 1

const oneDelete = "one DELETE"

// purgeRun is the rows of one database.
type purgeRun struct {
	cfg      window.Config
	table    *window.Table
	database string
}

// measure adds a row: the best of several runs, each after fill.
func (r *purgeRun) measure(program string, fill func() error, chunk func() (more bool, err error)) error {
	var best purged
	for range purgeRuns {
		if err := fill(); err != nil {
			return err
		}
		p, err := purgeOnce(r.cfg, chunk)
		if err != nil {
			return err
		}
		if best.chunks == 0 || p.wall < best.wall {
			best = p
		}
	}
	r.table.AddRow(r.database, program, perRecord(best.wall), perRecord(best.cpu), fmt.Sprint(best.chunks), best.longest.Round(100*time.Microsecond).String())
	return nil
}

func perRecord(d time.Duration) string { return (d / expired).Round(100 * time.Nanosecond).String() }

func purgeOnce(cfg window.Config, chunk func() (more bool, err error)) (p purged, err error) {
	begin, used := time.Now(), cfg.CPU()
	for more := true; more; p.chunks++ {
		start := time.Now()
		if more, err = chunk(); err != nil {
			return p, err
		}
		p.longest = max(p.longest, time.Since(start))
	}
	p.wall, p.cpu = time.Since(begin), cfg.CPU()-used
	return p, nil
}

// purgeChunk is one chunk of the engine.
func purgeChunk(ctx context.Context, store semel.Purger) func() (bool, error) {
	return func() (bool, error) {
		res, err := store.Purge(ctx, semel.PurgeParams{Limit: 500})
		return res.More, err
	}
}

// deleteAll is one DELETE of all that has expired.
func deleteAll(ctx context.Context, db *sql.DB, condition string) func() (bool, error) {
	return func() (bool, error) {
		res, err := db.ExecContext(ctx, "DELETE FROM idempotency_keys WHERE expires_at < "+condition)
		if err != nil {
			return false, err
		}
		if n, err := res.RowsAffected(); n != expired {
			return false, errors.Join(fmt.Errorf("%d rows were deleted", n), err)
		}
		return false, nil
	}
}
