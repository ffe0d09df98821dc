// Package sqlite keeps the records of package semel in a SQLite file, through
// database/sql. Package sqlstore is its face.
//
// Concurrent calls share transactions (group commit): a call that finds the
// store idle has one of its own, calls that arrive meanwhile form the next one.
//
//   - open.go: opening a file, and what is refused
//   - statement.go, statements.go: the methods as SQL; docs/stores-protocol.md explains them
//   - pragmas.go, codes.go: settings of a connection, classes of errors
//   - store.go, and claim.go, renew.go, finish.go, resolve.go, purge.go, guarantees.go:
//     the methods, each an operation of a batch
//   - read.go: the methods that need no transaction
//   - writer.go, tx.go, lock.go: the connection that writes, its transactions, and the
//     wait for other processes
//   - inbox.go, place.go: claim and finish in a transaction of database/sql
//   - errors.go: what a failure means for the caller
//   - migrate.go, migrations/: the schema and its versions
package sqlite
