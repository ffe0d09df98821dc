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
	return field(reported, "ConstraintName", "Constraint"), field(reported, "TableName", "Table")
}

// field is the first text among the fields of these names.
func field(err error, names ...string) string {
	v := structOf(err)
	if !v.IsValid() {
		return ""
	}
	for _, name := range names {
		if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}

// structOf is the struct that an error is or points to; invalid if there is none.
func structOf(err error) reflect.Value {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v
}
