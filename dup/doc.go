// Package dup works with unique keys: a row that is there already is an answer, not
// an accident. It knows the errors of PostgreSQL (pgx, lib/pq), MySQL, MariaDB and SQLite
// without importing a driver.
//
//	inserted, err := dup.Insert(ctx, tx, "INSERT INTO orders (number, total) VALUES ($1, $2)", number, total)
//	if err != nil {
//		return err
//	}
//	if !inserted {
//		return nil // this order is there already
//	}
//
// Only a duplicate key makes inserted false. A missing parent row, a value that is too
// long, a NULL, a deadlock are errors. Where a table has more than one unique key, say
// which of them means "done already":
//
//	dup.On("orders_number_key", "orders.number").Insert(…)
//
// A map of the package:
//
//   - violation.go, names.go: which constraint an error is about
//   - retryable.go: errors after which the same again may succeed
//   - insert.go: an insert that tells a duplicate
//   - get.go: the same, with the row that is there
//   - handle.go, savepoint.go: pools, connections and transactions
//   - statement.go: statements that would hide what this package tells
//   - errors.go: the package's own errors
package dup
