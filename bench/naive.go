package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"
)

// payload is the size of a result.
const payload = 300

// naive is an idempotency table as tutorials write it, on database/sql with the
// placeholders of SQLite and MariaDB.
type naive struct {
	db             *sql.DB
	insert, update *sql.Stmt // of cycleSingle
}

const (
	naiveSelect = "SELECT status, response FROM idempotency_keys WHERE idem_key = ?"
	naiveInsert = "INSERT INTO idempotency_keys (idem_key, status, created_at, expires_at) VALUES (?, 'started', ?, ?)"
	naiveUpdate = "UPDATE idempotency_keys SET status = 'finished', response = ? WHERE idem_key = ?"
)

// cycle looks the key up, inserts it in a transaction, and later stores the
// response in another one.
func (n *naive) cycle(ctx context.Context, _ int) error {
	key := rand.Text()
	if _, found, err := n.find(ctx, key); found || err != nil {
		return errors.Join(errors.New("a new key was found"), err)
	}
	if err := inTx(ctx, n.db, func(tx *sql.Tx) error { return started(ctx, tx, key) }); err != nil {
		return err
	}
	return inTx(ctx, n.db, func(tx *sql.Tx) error { return finished(ctx, tx, key) })
}

// cycleInOne looks the key up, and inserts it and stores the response in one
// transaction, open while the work is done.
func (n *naive) cycleInOne(ctx context.Context, _ int) error {
	key := rand.Text()
	if _, found, err := n.find(ctx, key); found || err != nil {
		return errors.Join(errors.New("a new key was found"), err)
	}
	return inTx(ctx, n.db, func(tx *sql.Tx) error { return errors.Join(started(ctx, tx, key), finished(ctx, tx, key)) })
}

// find reads the response of a key.
func (n *naive) find(ctx context.Context, key string) (response []byte, found bool, err error) {
	var status string
	err = n.db.QueryRowContext(ctx, naiveSelect, key).Scan(&status, &response)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return response, err == nil, err
}

func started(ctx context.Context, tx *sql.Tx, key string) error {
	now := time.Now()
	_, err := tx.ExecContext(ctx, naiveInsert, key, now.UnixMilli(), now.Add(24*time.Hour).UnixMilli())
	return err
}

func finished(ctx context.Context, tx *sql.Tx, key string) error {
	_, err := tx.ExecContext(ctx, naiveUpdate, make([]byte, payload), key)
	return err
}

// prepare prepares the statements of cycleSingle; insert must do nothing to a key
// that is there.
func (n *naive) prepare(ctx context.Context, insert string) (err error) {
	if n.insert, err = n.db.PrepareContext(ctx, insert); err != nil {
		return err
	}
	n.update, err = n.db.PrepareContext(ctx, naiveUpdate+" AND status = 'started'")
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

// replay reads a stored response.
func (n *naive) replay(ctx context.Context, _ int) error {
	response, _, err := n.find(ctx, storedKey())
	if err == nil && len(response) != payload {
		err = errors.New("a stored response is not there")
	}
	return err
}
