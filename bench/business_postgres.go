package main

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/pgxstore"
)

var postgresBusinessTables = []string{
	"CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50)",
	"INSERT INTO accounts SELECT n, 1000000000 FROM generate_series(0, 9999) AS n",
	"CREATE TABLE ledger (id bigserial PRIMARY KEY, account int NOT NULL, amount bigint NOT NULL, at timestamptz NOT NULL DEFAULT now())",
	"CREATE TABLE inbox (idem_key text PRIMARY KEY, response bytea, at timestamptz NOT NULL DEFAULT now())",
}

// businessPGX is business on pgx.
type businessPGX struct{ pool *pgxpool.Pool }

func (businessPGX) work(ctx context.Context, tx pgx.Tx) error {
	account := mathrand.IntN(accounts)
	if _, err := tx.Exec(ctx, postgresBusiness.deduct, account); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, postgresBusiness.note, account)
	return err
}

func (b businessPGX) bare(ctx context.Context, _ int) error {
	return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error { return b.work(ctx, tx) })
}

func (b businessPGX) byHand(ctx context.Context, _ int) error {
	return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		key := rand.Text()
		if _, err := tx.Exec(ctx, postgresBusiness.mark, key); err != nil {
			return err
		}
		if err := b.work(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, postgresBusiness.keep, make([]byte, payload), key)
		return err
	})
}

// inbox does the work with its record in the transaction.
func (b businessPGX) inbox(store *pgxstore.Store) (func(context.Context, int) error, error) {
	box, err := pgxstore.NewBox(store, nil)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ int) error {
		return runNew(func(op semel.Op) (semel.Result[string], error) {
			return pgxstore.Do(ctx, box, op, func(ctx context.Context, tx pgx.Tx) (string, error) {
				return answerBody, b.work(ctx, tx)
			})
		})
	}, nil
}

// businessPGXSuite compares the transaction on pgx.
func businessPGXSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	p, err := openPostgres(ctx, &cfg, "business")
	if err != nil {
		return nil, err
	}
	defer p.close(ctx)
	if err := p.exec(ctx, postgresBusinessTables...); err != nil {
		return nil, err
	}
	store, err := p.pgxStore(ctx, nil)
	if err != nil {
		return nil, err
	}
	b := businessPGX{store.Pool()}
	guarded, err := b.inbox(store)
	if err != nil {
		return nil, err
	}
	return businessTable(ctx, cfg, "Business transaction, PostgreSQL with pgx", []window.Contender{
		{Name: "bare", Cycle: b.bare},
		{Name: "by hand", Cycle: b.byHand},
		{Name: "Semel", Cycle: guarded},
	})
}

// businessPostgresSuite compares the transaction on database/sql.
func businessPostgresSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	p, err := openPostgres(ctx, &cfg, "business")
	if err != nil {
		return nil, err
	}
	defer p.close(ctx)
	if err := p.exec(ctx, postgresBusinessTables...); err != nil {
		return nil, err
	}
	store, err := p.store(ctx)
	if err != nil {
		return nil, err
	}
	return businessOn(ctx, cfg, "Business transaction, PostgreSQL with database/sql", store, postgresBusiness)
}
