package dup

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The shapes of the drivers' errors.
type (
	pgxError struct{ Code, TableName, ConstraintName string }
	modernc  struct {
		code int
		text string
	}
)

func (e *pgxError) Error() string    { return "ERROR: … (SQLSTATE " + e.Code + ")" }
func (e *pgxError) SQLState() string { return e.Code }
func (e *modernc) Error() string     { return fmt.Sprintf("constraint failed: %s (%d)", e.text, e.code) }
func (e *modernc) Code() int         { return e.code }

// server is an error of MySQL or MariaDB, as go-sql-driver writes it.
func server(number int, text string) error {
	return fmt.Errorf("Error %d (23000): %s", number, text)
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		err        error
		constraint string
		table      string
	}{
		{"PostgreSQL", &pgxError{"23505", "orders", "orders_number_key"}, "orders_number_key", "orders"},
		{"wrapped", fmt.Errorf("saving: %w", &pgxError{"23505", "orders", "k"}), "k", "orders"},
		{"MySQL 8", server(1062, "Duplicate entry 'a' for key 'orders.number'"), "number", "orders"},
		{"MariaDB", server(1062, "Duplicate entry 'a' for key 'number'"), "number", ""},
		{"the key's name of a value", server(1062, "Duplicate entry 'a' for key 'harmless'' for key 'number'"), "number", ""},
		{"another language", server(1062, "Doppelter Eintrag 'a' für Schlüssel 'number'"), "number", ""},
		{"key alone", server(1859, "Duplicate entry for key 'number'"), "number", ""},
		{"no key", server(1022, "Can't write; duplicate key in table 't'"), "", ""},
		{"a text around", fmt.Errorf("%w: saving 'harmless'", server(1062, "Duplicate entry 'a' for key 'number'")), "number", ""},
		{"SQLite", &modernc{2067, "UNIQUE constraint failed: orders.tenant, orders.number"}, "orders.tenant, orders.number", "orders"},
		{"SQLite's primary key", &modernc{1555, "UNIQUE constraint failed: orders.id"}, "orders.id", "orders"},
		{"SQLite's index", &modernc{2067, "UNIQUE constraint failed: index 'lower_name'"}, "lower_name", ""},
		{"SQLite's text alone", errors.New("UNIQUE constraint failed: orders.id"), "orders.id", "orders"},
		{"SQLite's primary code", &modernc{19, "UNIQUE constraint failed: orders.id"}, "orders.id", "orders"},
	} {
		v, ok := Of(c.err)
		if !ok || v.Constraint != c.constraint || v.Table != c.table {
			t.Errorf("%s: %v, %q of %q; want %q of %q", c.name, ok, v.Constraint, v.Table, c.constraint, c.table)
		}
		if !Is(c.err) || Is(c.err, "harmless") || Is(c.err, "") || Is(c.err, c.constraint) != (c.constraint != "") {
			t.Errorf("%s: Is does not agree", c.name)
		}
	}
}

func TestOthersAreNoDuplicates(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"nil":               nil,
		"foreign key":       &pgxError{Code: "23503"},
		"NULL":              &pgxError{Code: "23502"},
		"check":             &pgxError{Code: "23514"},
		"exclusion":         &pgxError{Code: "23P01"},
		"too long":          &pgxError{Code: "22001"},
		"MySQL foreign key": server(1452, "Cannot add or update a child row"),
		"MySQL NULL":        server(1048, "Column 'a' cannot be null"),
		"MySQL too long":    server(1406, "Data too long for column 'a'"),
		"MySQL cascade":     server(1761, "Foreign key constraint for table 'a', record 'b' would lead to a duplicate entry in table 'c', key 'd'"),
		"SQLite foreign":    &modernc{787, "FOREIGN KEY constraint failed"},
		"SQLite NULL":       &modernc{1299, "NOT NULL constraint failed: t.a"},
		"SQLite constraint": &modernc{19, "FOREIGN KEY constraint failed"},
		"words of a user":   fmt.Errorf("the name %q is taken", "UNIQUE constraint failed: t.a"),
		"words of an error": &pgxError{"23503", "UNIQUE constraint failed: t.a", "k"},
	} {
		if _, ok := Of(err); ok || Is(err) || Is(err, "k") {
			t.Errorf("%s is a duplicate", name)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	pg := &pgxError{"23505", "orders", "orders_number_key"}
	mysql8 := server(1062, "Duplicate entry 'a' for key 'orders.Number'")
	mariadb := server(1062, "Duplicate entry 'a' for key 'PRIMARY'")
	lite := &modernc{2067, "UNIQUE constraint failed: Orders.tenant, Orders.number"}
	for _, c := range []struct {
		err   error
		names string // with | between
		want  bool
	}{
		{pg, "orders_number_key", true},
		{pg, "orders.orders_number_key", true},
		{pg, "other_key|orders_number_key", true},
		{pg, "Orders_Number_Key", false},
		{pg, "number_key", false},
		{pg, "bills.orders_number_key", false},
		{mysql8, "number", true},
		{mysql8, "orders.number", true},
		{mysql8, "bills.number", false},
		{mysql8, "orders", false},
		{mariadb, "PRIMARY", true},
		{mariadb, "primary", true},
		{mariadb, "orders.PRIMARY", false}, // it may be another table's
		{lite, "orders.tenant,orders.number", true},
		{lite, " orders.tenant , orders.number", true},
		{lite, "orders.number, orders.tenant", false},
		{lite, "orders.tenant", false},
		{lite, "tenant, number", false},
	} {
		if got := Is(c.err, strings.Split(c.names, "|")...); got != c.want {
			t.Errorf("%v: is %q: %v", c.err, c.names, got)
		}
		if On(strings.Split(c.names, "|")...).Is(c.err) != c.want {
			t.Errorf("%v: On %q disagrees", c.err, c.names)
		}
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("no"), false},
		{&pgxError{Code: "40001"}, true},
		{fmt.Errorf("saving: %w", &pgxError{Code: "40P01"}), true},
		{&pgxError{Code: "55P03"}, true},
		{&pgxError{Code: "23505"}, false},
		{&pgxError{Code: "25P02"}, false},
		{&pgxError{Code: "40003"}, false}, // statement completion unknown
		{server(1213, "Deadlock found"), true},
		{server(1205, "Lock wait timeout exceeded"), true},
		{server(1020, "Record has changed since last read"), true},
		{server(3572, "NOWAIT is set"), true},
		{server(1062, "Duplicate entry 'a' for key 'number'"), false},
		{&modernc{5, "database is locked"}, true},
		{&modernc{517, "database is locked"}, true},
		{&modernc{6, "database table is locked"}, true},
		{&modernc{261, "database is locked"}, true},
		{&modernc{2067, "UNIQUE constraint failed: t.a"}, false},
		{&modernc{13, "database or disk is full"}, false},
		{&UnseenError{}, true},
		{&UnseenError{Inserted: true}, false},
		{ErrNoReply, false},
	} {
		if got := Retryable(c.err); got != c.want {
			t.Errorf("%v: %v; want %v", c.err, got, c.want)
		}
	}
}
