// Package mysql keeps the records of package semel in MySQL or MariaDB, through
// database/sql. Package sqlstore is its face.
//
// Every change is one autocommitted statement, conditional on the record as it was
// seen and on the server's clock; only the purge and the transactions of package
// inbox have more. Concurrent claims share a statement, and so do concurrent
// results: see package combiner. What such a statement does not settle, its caller
// goes on with alone.
//
// # Privileges
//
// A user who claims and finishes needs no more than this (with the prefix semel_):
//
//	GRANT SELECT, INSERT, UPDATE, DELETE ON semel_record TO app;
//	GRANT SELECT, UPDATE ON semel_floor TO app;
//	GRANT SELECT ON semel_schema TO app;
//
// One who migrates, once for each version, needs CREATE, ALTER, INDEX, SELECT, INSERT,
// UPDATE and DELETE on the database; or the statements of `semel migrate --print` are
// applied by other means, and stores are opened with NoMigrate.
//
// # Map
//
//   - statements.go, statement.go: the methods as SQL, for one key;
//     docs/stores-protocol.md explains them
//   - literal.go, prepared.go: the same for many keys, as text, and for few
//   - store.go, gate.go, patience.go, run.go: the store, its closing, the time that a call
//     may take, and running a statement
//   - claim.go, claims.go: a claim alone, and a batch of them
//   - branch.go, move.go: claiming a record that is there
//   - finish.go, finishes.go: a result alone, and a batch of them
//   - owner.go, resolve.go, read.go, purge.go: the other methods
//   - inbox.go: claim and result in a transaction of somebody else
//   - floor.go, time.go: the floor of fences, expiry and elapsed time
//   - server.go, guarantees.go: what a server must be, and what it promises
//   - codes.go, errors.go: classes of errors, and what a failure means for the caller
//   - migrate.go, migrations/: the schema and its versions
package mysql
