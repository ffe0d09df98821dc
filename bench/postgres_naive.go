package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// naivePGX is an idempotency table as tutorials write it, on pgx. pgx prepares the
// statements by itself.
type naivePGX struct{ pool *pgxpool.Pool }

const (
	pgxTable = `CREATE TABLE idempotency_keys (idem_key text PRIMARY KEY, status text NOT NULL, response bytea,
		created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL)`
	pgxIndex  = "CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_at)"
	pgxSelect = "SELECT status, response FROM idempotency_keys WHERE idem_key = $1"
	pgxInsert = "INSERT INTO idempotency_keys (idem_key, status, created_at, expires_at) VALUES ($1, 'started', $2, $3)"
	pgxUpdate = "UPDATE idempotency_keys SET status = 'finished', response = $2 WHERE idem_key = $1"

	pgxInsertOnce = pgxInsert + " ON CONFLICT (idem_key) DO NOTHING"
	pgxUpdateOwn  = pgxUpdate + " AND status = 'started'"
)

func openNaivePGX(ctx context.Context, p *postgres) (*naivePGX, error) {
	if err := p.exec(ctx, pgxTable, pgxIndex); err != nil {
		return nil, err
	}
	pool, err := p.pool(ctx)
	return &naivePGX{pool}, err
}

// cycle looks the key up, inserts it in a transaction, and later stores the
// response in another one.
func (n *naivePGX) cycle(ctx context.Context, _ int) error {
	key := rand.Text()
	if err := n.mustBeNew(ctx, key); err != nil {
		return err
	}
	if err := pgx.BeginFunc(ctx, n.pool, func(tx pgx.Tx) error { return startedPGX(ctx, tx, key) }); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, n.pool, func(tx pgx.Tx) error { return finishedPGX(ctx, tx, key) })
}

// cycleInOne looks the key up, and inserts it and stores the response in one
// transaction, open while the work is done.
func (n *naivePGX) cycleInOne(ctx context.Context, _ int) error {
	key := rand.Text()
	if err := n.mustBeNew(ctx, key); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, n.pool, func(tx pgx.Tx) error {
		if err := startedPGX(ctx, tx, key); err != nil {
			return err
		}
		return finishedPGX(ctx, tx, key)
	})
}

func (n *naivePGX) mustBeNew(ctx context.Context, key string) error {
	_, found, err := n.find(ctx, key)
	if found {
		return errors.New("a new key was found")
	}
	return err
}

// find reads the response of a key.
func (n *naivePGX) find(ctx context.Context, key string) (response []byte, found bool, err error) {
	var status string
	err = n.pool.QueryRow(ctx, pgxSelect, key).Scan(&status, &response)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return response, err == nil, err
}

func startedPGX(ctx context.Context, tx pgx.Tx, key string) error {
	now := time.Now()
	_, err := tx.Exec(ctx, pgxInsert, key, now, now.Add(24*time.Hour))
	return err
}

func finishedPGX(ctx context.Context, tx pgx.Tx, key string) error {
	_, err := tx.Exec(ctx, pgxUpdate, key, make([]byte, payload))
	return err
}

// cycleSingle is one statement for the claim and one for the finish.
func (n *naivePGX) cycleSingle(ctx context.Context, _ int) error {
	key, now := rand.Text(), time.Now()
	if _, err := n.pool.Exec(ctx, pgxInsertOnce, key, now, now.Add(24*time.Hour)); err != nil {
		return err
	}
	_, err := n.pool.Exec(ctx, pgxUpdateOwn, key, make([]byte, payload))
	return err
}

// replay reads a stored response.
func (n *naivePGX) replay(ctx context.Context, _ int) error {
	response, _, err := n.find(ctx, storedKey())
	if err == nil && len(response) != payload {
		err = errors.New("a stored response is not there")
	}
	return err
}
