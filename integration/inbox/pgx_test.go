package inbox

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/pgxstore"
)

// poolFixture is a fixture of pgx; the bank looks at it through database/sql.
func poolFixture(t *testing.T, dsn string, conns int) *fixture {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = int32(conns)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := pgxstore.New(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{bank: bank{openSQL(t, "pgx", dsn, 2)}, store: store}
	f.box = func(t *testing.T, opts *inbox.Options) box {
		t.Helper()
		b, err := pgxstore.NewBox(store, opts)
		if err != nil {
			t.Fatal(err)
		}
		return pgxBox{b}
	}
	f.create(t)
	return f
}

// pgxBox is package pgxstore's.
type pgxBox struct{ *pgxstore.Box }

func (b pgxBox) do(ctx context.Context, op semel.Op, fn work) (semel.Result[receipt], error) {
	return pgxstore.Do(ctx, b.Box, op, func(ctx context.Context, tx pgx.Tx) (receipt, error) { return fn(ctx, pgxTx{tx}) })
}

func (b pgxBox) mark(ctx context.Context, tx execer, op semel.Op) (bool, error) {
	return pgxstore.Mark(ctx, b.Box, tx.(pgxTx).Tx, op)
}

func (b pgxBox) transact(ctx context.Context, iso sql.IsolationLevel, fn func(tx execer) error) error {
	level := map[sql.IsolationLevel]pgx.TxIsoLevel{sql.LevelRepeatableRead: pgx.RepeatableRead, sql.LevelSerializable: pgx.Serializable}[iso]
	return pgx.BeginTxFunc(ctx, b.Store().(*pgxstore.Store).Pool(), pgx.TxOptions{IsoLevel: level}, func(tx pgx.Tx) error { return fn(pgxTx{tx}) })
}

type pgxTx struct{ pgx.Tx }

func (t pgxTx) exec(ctx context.Context, sql string) error {
	_, err := t.Exec(ctx, sql)
	return err
}

func (t pgxTx) number(ctx context.Context, sql string) (n int, err error) {
	err = t.QueryRow(ctx, sql).Scan(&n)
	return n, err
}

func (t pgxTx) end(commit bool) error {
	if commit {
		return t.Commit(context.Background())
	}
	return t.Rollback(context.Background())
}
