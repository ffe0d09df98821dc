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
//   - store.go, claim.go, finish.go, resolve.go …: the methods, as operations of a batch
//   - row.go: a record as its columns, and how it is seen at a given time
//   - writer.go: the connection that writes, and its transactions
//   - migrate.go, migrations/: the schema and its versions
package sqlstore
