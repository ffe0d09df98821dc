package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/semel-go/semel/bench/internal/window"
)

func purgePostgres(ctx context.Context, cfg window.Config, table *window.Table) error {
	p, err := openPostgresPrograms(ctx, &cfg, "purge")
	if err != nil {
		return err
	}
	defer p.close(ctx)
	run := purgeRun{cfg: cfg, table: table, database: "PostgreSQL"}
	if err := run.measure(oneDelete, func() error { return p.fillNaive(ctx, expired) }, deleteAll(ctx, p.sql.DB(), "now()")); err != nil {
		return err
	}
	return run.measure("Semel", func() error { return p.fillRecords(ctx, expired, longAgo) }, purgeChunk(ctx, p.sql))
}

func purgeMariaDB(ctx context.Context, cfg window.Config, table *window.Table) error {
	m, err := openMariaDBPrograms(ctx, &cfg, "purge")
	if err != nil {
		return err
	}
	defer m.close(ctx)
	run := purgeRun{cfg: cfg, table: table, database: "MariaDB"}
	if err := run.measure(oneDelete, func() error { return m.fillNaive(ctx, expired) }, deleteAll(ctx, m.naive.db, "1")); err != nil {
		return err
	}
	return run.measure("Semel", func() error { return m.fillRecords(ctx, expired, longAgo) }, purgeChunk(ctx, m.semel))
}

func purgeSQLite(ctx context.Context, cfg window.Config, table *window.Table) error {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, err := openNaive(filepath.Join(dir, "naive.db"))
	if err != nil {
		return err
	}
	defer n.db.Close()
	store, err := openStore(ctx, filepath.Join(dir, "semel.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	run := purgeRun{cfg: cfg, table: table, database: "SQLite"}
	if err := run.measure(oneDelete, func() error { return n.fillSQLite(ctx, expired) }, deleteAll(ctx, n.db, "1")); err != nil {
		return err
	}
	return run.measure("Semel", func() error {
		if err := fill(ctx, store, expired); err != nil {
			return err
		}
		return execAll(ctx, store.DB(), "UPDATE semel_record SET expires_at = 1")
	}, purgeChunk(ctx, store))
}
