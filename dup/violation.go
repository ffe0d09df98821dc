package dup

import (
	"slices"

	"github.com/semel-go/semel/internal/sqlcode"
)

// Violation says which constraint a duplicate key is about, as far as the engine tells.
type Violation struct {
	// Constraint is the name in the engine's words: in PostgreSQL that of the constraint
	// or unique index; in MySQL and MariaDB that of the key, PRIMARY for a primary key; in
	// SQLite the columns, as in "orders.tenant, orders.number", or the name of an index
	// on expressions. Empty if the driver does not tell.
	Constraint string
	// Table is the constraint's table. Empty where the engine does not tell, as MariaDB.
	Table string

	engine engine
}

type engine int

const (
	postgres engine = iota + 1
	mysql
	sqlite
)

// Of tells of the duplicate key of a unique constraint, unique index or primary key in
// err or what it wraps; false for every other error.
func Of(err error) (Violation, bool) {
	if state := sqlcode.State(err); state != "" {
		return ofPostgres(err, state)
	}
	if n, text, ok := sqlcode.Number(err); ok {
		return ofMySQL(n, text)
	}
	if code, text, ok := sqlcode.SQLite(err); ok {
		return ofSQLite(code, text)
	}
	return Violation{}, false
}

// Is reports whether err tells of a duplicate key, with names: of one of these
// constraints. Since engines name them differently, a program for more than one of them
// passes a name for each:
//
//   - PostgreSQL: the name of the constraint or index, as stored (lower case unless it was
//     quoted): "orders_number_key"; also with its table: "orders.orders_number_key".
//   - MySQL: the key's name, as in "orders.number" or "number"; "orders.PRIMARY".
//   - MariaDB: the key's name alone, "number": the server does not tell the table, so a
//     name with a table matches nothing.
//   - SQLite: the columns with their table, in the order of the key:
//     "orders.tenant, orders.number"; for an index on expressions its name.
//
// Case counts in PostgreSQL only. A violation whose constraint is not known matches no
// name.
func Is(err error, constraints ...string) bool {
	v, ok := Of(err)
	return ok && v.isOf(constraints)
}

// isOf reports a violation of one of the constraints, or of any if none is named.
func (v Violation) isOf(constraints []string) bool {
	return len(constraints) == 0 || v.Constraint != "" && slices.ContainsFunc(constraints, v.named)
}
