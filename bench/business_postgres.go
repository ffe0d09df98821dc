package main

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/semel-go/semel/bench/internal/window"
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
	pool, err := p.pool(ctx)
	if err != nil {
		return nil, err
	}
	b := businessPGX{pool}
	return businessTable(ctx, cfg, "Business transaction, PostgreSQL with pgx", []window.Contender{
		{Name: "bare", Cycle: b.bare},
		{Name: "by hand", Cycle: b.byHand},
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
	db, err := p.db()
	if err != nil {
		return nil, err
	}
	b := &business{db, postgresBusiness}
	return businessTable(ctx, cfg, "Business transaction, PostgreSQL with database/sql", []window.Contender{
		{Name: "bare", Cycle: b.bare},
		{Name: "by hand", Cycle: b.byHand},
	})
}
