package postgres

import "context"

// Querier runs statements: on a pool, each in a transaction of its own, or on a
// transaction.
type Querier interface {
	// Query runs one statement and hands each of its rows to each. An error of a
	// statement that was never sent is made by [Unsent].
	Query(ctx context.Context, text string, args []any, each func(Row) error) error
}

// Row is a row under the cursor of a driver.
type Row interface {
	Scan(dest ...any) error
}

// Database is a pool of connections.
type Database interface {
	// Query is for the statements of [Text], which are run often: it keeps them
	// prepared where that is possible.
	Querier
	// QueryOnce is for other statements.
	QueryOnce(ctx context.Context, text string, args []any, each func(Row) error) error
	// Transact runs f in one transaction, which it commits if f succeeds.
	Transact(ctx context.Context, f func(Querier) error) error
	// Close frees what the database keeps for the store, and no more.
	Close() error
}

// execute runs a statement whose rows do not matter.
func execute(ctx context.Context, q Querier, text string, args ...any) error {
	return q.Query(ctx, text, args, func(Row) error { return nil })
}

// scalars reads the one row of a query; found is false if there is none.
func scalars(ctx context.Context, query queryFunc, text string, args []any, dest ...any) (found bool, err error) {
	err = query(ctx, text, args, func(r Row) error {
		found = true
		return r.Scan(dest...)
	})
	return found, err
}
