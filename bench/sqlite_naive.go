package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	_ "modernc.org/sqlite" // the driver under all contenders
)

// payload is the size of a result.
const payload = 300

// naive is an idempotency table as tutorials write it.
type naive struct {
	db             *sql.DB
	insert, update *sql.Stmt
}

func openNaive(file string) (*naive, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE idempotency_keys (
		key TEXT PRIMARY KEY, status TEXT NOT NULL, response BLOB, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);
		CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_at)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &naive{db: db}, nil
}

// cycle looks the key up, inserts it in a transaction, and later stores the
// response in another one.
func (n *naive) cycle(ctx context.Context, _ int) error {
	key, now := rand.Text(), time.Now()
	var status string
	err := n.db.QueryRowContext(ctx, "SELECT status FROM idempotency_keys WHERE key = ?", key).Scan(&status)
	if !errors.Is(err, sql.ErrNoRows) {
		return errors.Join(errors.New("a new key was found"), err)
	}
	err = n.inTx(ctx, "INSERT INTO idempotency_keys (key, status, created_at, expires_at) VALUES (?, 'started', ?, ?)",
		key, now.UnixMilli(), now.Add(24*time.Hour).UnixMilli())
	if err != nil {
		return err
	}
	return n.inTx(ctx, "UPDATE idempotency_keys SET status = 'finished', response = ? WHERE key = ?", make([]byte, payload), key)
}

func (n *naive) inTx(ctx context.Context, query string, args ...any) error {
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, query, args...); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (n *naive) prepare(ctx context.Context) (err error) {
	n.insert, err = n.db.PrepareContext(ctx, "INSERT INTO idempotency_keys (key, status, created_at, expires_at) VALUES (?, 'started', ?, ?) ON CONFLICT (key) DO NOTHING")
	if err != nil {
		return err
	}
	n.update, err = n.db.PrepareContext(ctx, "UPDATE idempotency_keys SET status = 'finished', response = ? WHERE key = ? AND status = 'started'")
	return err
}

// cycleSingle is one statement for the claim and one for the finish.
func (n *naive) cycleSingle(ctx context.Context, _ int) error {
	key, now := rand.Text(), time.Now()
	_, err := n.insert.ExecContext(ctx, key, now.UnixMilli(), now.Add(24*time.Hour).UnixMilli())
	if err != nil {
		return err
	}
	_, err = n.update.ExecContext(ctx, make([]byte, payload), key)
	return err
}

// fill stores n numbered responses.
func (n *naive) fill(ctx context.Context, count int) error {
	_, err := n.db.ExecContext(ctx, `WITH RECURSIVE i (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < ? - 1)
		INSERT INTO idempotency_keys SELECT printf('key-%022d', n * 7919 % 1000000007), 'finished', randomblob(?), 0, 0 FROM i`, count, payload)
	return err
}

// replay reads a stored response.
func (n *naive) replay(ctx context.Context, _ int) error {
	var status string
	var response []byte
	key := fmt.Sprintf("key-%022d", mathrand.IntN(stored)*7919%1_000_000_007)
	err := n.db.QueryRowContext(ctx, "SELECT status, response FROM idempotency_keys WHERE key = ?", key).Scan(&status, &response)
	if err == nil && len(response) != payload {
		err = errors.New("a stored response is not there")
	}
	return err
}
