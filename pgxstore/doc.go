// Package pgxstore keeps the records of [semel] in PostgreSQL, on a pool of pgx.
//
//	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
//	if err != nil {
//		return err
//	}
//	defer pool.Close()
//	store, err := pgxstore.New(ctx, pool, nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	engine, err := semel.New(store, nil)
//
// Concurrent calls share statements: a call that finds the store idle has one of its
// own, calls that arrive meanwhile form the next one. Each method is still one atomic
// step, and answers only when it is durable.
//
// Duplicates that wait are told of the end of a run, by any process that uses this
// package or sqlstore: with LISTEN, on one connection that is there as long as
// somebody waits.
//
// [NewBox] and [Do] are package inbox on pgx: the record in the transaction of the
// business rows.
//
// A map of the package:
//
//   - store.go, options.go: the store that users hold, and its settings
//   - database.go: statements on a pool (internal/postgres holds them)
//   - wait.go, listen.go: those who wait, and the connection that listens
//   - box.go, transactions.go, transaction.go: the record in the business transaction
//   - lock.go: package lock on pgx transactions
//   - dup.go: pools and transactions for package dup
package pgxstore
