package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// hot asks for keys that others ask for as well: it looks the key up, and inserts it
// and stores the response in one transaction. Who comes second waits for the first
// in the INSERT, and then learns that it is a duplicate.
func (n *naivePGX) hot(keys *hotKeys) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		key := keys.take()
		if _, found, err := n.find(ctx, key); found || err != nil {
			return err
		}
		err := pgx.BeginFunc(ctx, n.pool, func(tx pgx.Tx) error {
			if err := startedPGX(ctx, tx, key); err != nil {
				return err
			}
			return finishedPGX(ctx, tx, key)
		})
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" {
			return nil
		}
		return err
	}
}

// hot is that of naivePGX.
func (n *naive) hot(keys *hotKeys) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		key := keys.take()
		if _, found, err := n.find(ctx, key); found || err != nil {
			return err
		}
		err := inTx(ctx, n.db, func(tx *sql.Tx) error {
			if err := started(ctx, tx, key); err != nil {
				return err
			}
			return finished(ctx, tx, key)
		})
		// A duplicate, or the victim of a deadlock among three of them.
		if e, ok := errors.AsType[*mysql.MySQLError](err); ok && (e.Number == 1062 || e.Number == 1213) {
			return nil
		}
		return err
	}
}
