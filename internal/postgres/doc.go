// Package postgres keeps the records of package semel in PostgreSQL. Packages
// sqlstore and pgxstore are its faces, for database/sql and for pgx.
//
// Concurrent calls share statements: a call that finds the store idle has one of its
// own, calls that arrive meanwhile form the next batch, which is one statement of many
// rows in a transaction of its own. What a batch does not settle goes on alone, by
// its caller. No state is kept in a session, so that a pooler may stand between.
//
// # Privileges
//
// The role of a store needs these, on tables that somebody else may own, and no more:
//
//	GRANT USAGE ON SCHEMA app TO semel;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON semel_record TO semel;
//	GRANT SELECT, UPDATE ON semel_floor TO semel;
//	GRANT SELECT ON semel_schema TO semel;
//
// The role that applies the schema needs CREATE on the schema, once, and owns the
// tables then. A store whose role has it applies the schema itself, unless it is
// told not to.
//
// # Map
//
//   - text.go, textclaim.go, textowner.go, textother.go: the methods as SQL;
//     docs/stores-protocol.md explains them
//   - database.go, sqldb.go: what runs statements, and database/sql as such
//   - claimone.go, ownerone.go: the methods on one key, also in a transaction of the caller
//   - store.go, claim.go, owner.go: batches, and what goes on alone; held.go: keys that stay
//     out of batches
//   - resolve.go, list.go: the methods that are no part of a batch
//   - notify.go: telling those who wait
//   - args.go, row.go: parameters and rows that every driver can pass on
//   - errors.go: what a failure means for the caller
//   - probe.go, promise.go: what a server is refused for, and what its settings promise
//   - schema.go, migrations/: the schema and its versions
package postgres
