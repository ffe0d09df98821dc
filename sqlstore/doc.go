// Package sqlstore keeps the records of [semel] in a SQL database, through
// database/sql. It imports no driver: bring your own. SQLite is built in.
//
//	connector, err := sqlstore.Connector(&sqlite.Driver{}, "semel.db") // modernc.org/sqlite
//	if err != nil {
//		return err
//	}
//	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	engine, err := semel.New(store, nil)
//
// Concurrent calls share transactions (group commit): a call that finds the
// store idle has one of its own, calls that arrive meanwhile form the next one.
// Each method is still one atomic step, and answers only when it is durable.
//
// A map of the package:
//
//   - sqlite.go: opening a file, and what is refused
//   - sqlite_statements.go: the methods as SQL; docs/stores-protocol.md explains them
//   - sqlite_pragmas.go, sqlite_errors.go: settings of a connection, classes of errors
//   - store.go, and claim.go, renew.go, finish.go, resolve.go, purge.go, guarantees.go:
//     the methods, each an operation of a batch
//   - read.go: the methods that need no transaction
//   - writer.go, tx.go, lock.go: the connection that writes, its transactions, and the
//     wait for other processes
//   - row.go, scan.go: a record as its columns, and how it is seen at a given time
//   - errors.go: what a failure means for the caller
//   - dialect.go: what differs between databases
//   - migrate.go, migrations/: the schema and its versions
package sqlstore
