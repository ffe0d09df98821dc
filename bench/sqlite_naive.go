package main

import (
	"context"
	"database/sql"
	"errors"

	_ "modernc.org/sqlite" // the driver under all contenders
)

// openSQLite opens a file with one connection, which is faster for single
// transactions than several.
func openSQLite(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func openNaive(file string) (*naive, error) {
	db, err := openSQLite(file)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`CREATE TABLE idempotency_keys (
		idem_key TEXT PRIMARY KEY, status TEXT NOT NULL, response BLOB, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);
		CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_at)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &naive{db: db}, nil
}

const sqliteInsertOnce = naiveInsert + " ON CONFLICT (idem_key) DO NOTHING"

// fillSQLite stores n numbered responses.
func (n *naive) fillSQLite(ctx context.Context, count int) error {
	_, err := n.db.ExecContext(ctx, `WITH RECURSIVE i (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < ? - 1)
		INSERT INTO idempotency_keys SELECT printf('key-%022d', n * 7919 % 1000000007), 'finished', randomblob(?), 0, 0 FROM i`, count, payload)
	return err
}
