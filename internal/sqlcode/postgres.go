package sqlcode

import (
	"errors"
	"reflect"
)

// stated is an error that a server reported with a SQLSTATE.
type stated interface {
	error
	SQLState() string
}

// State is the SQLSTATE of an error, empty if it has none.
func State(err error) string {
	if reported, ok := errors.AsType[stated](err); ok {
		return reported.SQLState()
	}
	return ""
}

// Constraint is the name of the constraint that the error with the SQLSTATE reports, and
// its table; empty if the driver does not tell. No driver tells it through a method:
// pgx has the fields ConstraintName and TableName, lib/pq Constraint and Table.
func Constraint(err error) (name, table string) {
	reported, ok := errors.AsType[stated](err)
	if !ok {
		return "", ""
	}
	return text(reported, "ConstraintName", "Constraint"), text(reported, "TableName", "Table")
}

// text is the first text among the fields of these names.
func text(err error, names ...string) string {
	for _, name := range names {
		if f := field(err, name); f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}
