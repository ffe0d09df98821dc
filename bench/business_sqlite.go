package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"github.com/semel-go/semel/bench/internal/window"
)

var sqliteBusinessTables = []string{
	"CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)",
	"INSERT INTO accounts WITH RECURSIVE i (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 9999) SELECT n, 1000000000 FROM i",
	"CREATE TABLE ledger (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, amount INTEGER NOT NULL, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)",
	"CREATE TABLE inbox (idem_key TEXT PRIMARY KEY, response BLOB, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)",
}

// businessSQLiteSuite compares the transaction on SQLite.
func businessSQLiteSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	dir, err := os.MkdirTemp("", "semel-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := openSQLite(filepath.Join(dir, "business.db"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := execAll(ctx, db, sqliteBusinessTables...); err != nil {
		return nil, err
	}
	store, err := openStore(ctx, filepath.Join(dir, "semel.db"))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if err := execAll(ctx, store.DB(), sqliteBusinessTables...); err != nil {
		return nil, err
	}
	bare, guarded := &business{db, otherBusiness}, &business{store.DB(), otherBusiness}
	once, err := guarded.inbox(store)
	if err != nil {
		return nil, err
	}
	return businessTable(ctx, cfg, "Business transaction, SQLite", []window.Contender{
		{Name: "bare", Cycle: bare.bare},
		{Name: "by hand", Cycle: bare.byHand},
		{Name: "Semel", Cycle: once},
	})
}

// execAll runs statements, each by itself.
func execAll(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
