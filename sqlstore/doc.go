// Package sqlstore keeps the records of [semel] in a SQL database, through
// database/sql: SQLite, PostgreSQL, MySQL and MariaDB. It imports no driver: bring
// your own.
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
// On a server it is [NewPostgres] or [NewMySQL], with a *sql.DB of your own.
//
// Concurrent calls share statements or transactions: a call that finds the store
// idle has one of its own, calls that arrive meanwhile form the next one. Each
// method is still one atomic step, and answers only when it is committed.
//
// A map of the package:
//
//   - store.go, options.go: the store that users hold, and its settings
//   - sqlite.go, postgres.go, mysql.go: opening it on each database (packages of the
//     same names under internal hold the statements)
//   - connector.go: a connector for a driver that has none
//   - migrations.go: the schema and its versions
package sqlstore
