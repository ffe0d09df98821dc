package sqlcode

import (
	"errors"
	"fmt"
	"testing"
)

// The shapes of the drivers' errors.
type (
	pgxError   struct{ Code, TableName, ConstraintName string }
	pqError    struct{ Code, Table, Constraint string }
	modernc    struct{ code int }
	mattnError struct {
		Code         mattnCode
		ExtendedCode mattnCode
	}
	mattnCode int
	appError  struct{ status int }
)

func (e *pgxError) Error() string    { return "ERROR: … (SQLSTATE " + e.Code + ")" }
func (e *pgxError) SQLState() string { return e.Code }
func (e *pqError) Error() string     { return "pq: …" }
func (e *pqError) SQLState() string  { return e.Code }
func (e *modernc) Error() string     { return fmt.Sprintf("constraint failed: … (%d)", e.code) }
func (e *modernc) Code() int         { return e.code }
func (e mattnError) Error() string   { return "…" }
func (e *appError) Error() string    { return "teapot" }
func (e *appError) Code() int        { return e.status }

// stateText is an error with a SQLSTATE that is no struct.
type stateText string

func (e stateText) Error() string    { return "…" }
func (e stateText) SQLState() string { return string(e) }

func TestPostgres(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err                error
		state, name, table string
	}{
		{nil, "", "", ""},
		{errors.New("SQLSTATE 23505"), "", "", ""},
		{&pgxError{"23505", "t", "t_key"}, "23505", "t_key", "t"},
		{&pqError{"23505", "t", "t_key"}, "23505", "t_key", "t"},
		{fmt.Errorf("saving: %w", &pqError{"23503", "t", "fk"}), "23503", "fk", "t"},
		{errors.Join(errors.New("saving"), &pgxError{Code: "40001"}), "40001", "", ""},
		{stateText("23505"), "23505", "", ""},
		{(*pgxNil)(nil), "23505", "", ""},
	} {
		name, table := Constraint(c.err)
		if state := State(c.err); state != c.state || name != c.name || table != c.table {
			t.Errorf("%v: %q, %q of %q; want %q, %q of %q", c.err, state, name, table, c.state, c.name, c.table)
		}
	}
}

// pgxNil is an error that is a nil pointer.
type pgxNil struct{ ConstraintName string }

func (*pgxNil) Error() string    { return "…" }
func (*pgxNil) SQLState() string { return "23505" }

// embedding is an error whose fields stand in a pointer that is nil.
type embedding struct{ *inner }

type inner struct {
	Code, ExtendedCode int
	Constraint         string
}

func (embedding) Error() string    { return "…" }
func (embedding) SQLState() string { return "23505" }

func TestFieldsOutOfReach(t *testing.T) {
	t.Parallel()
	err := embedding{}
	if name, table := Constraint(err); name != "" || table != "" {
		t.Errorf("%q of %q", name, table)
	}
	if code, _, ok := SQLite(err); ok {
		t.Errorf("code %d", code)
	}
	if name, _ := Constraint(embedding{&inner{Constraint: "k"}}); name != "k" {
		t.Errorf("%q; want k", name)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	server := errors.New("Error 1062 (23000): Duplicate entry 'a' for key 'k'")
	for _, c := range []struct {
		err  error
		want int
		text string
	}{
		{nil, 0, ""},
		{errors.New("no"), 0, "no"},
		{server, 1062, server.Error()},
		{errors.New("ERROR 1205: as the client writes it"), 1205, "ERROR 1205: as the client writes it"},
		{errors.New("Error reading packet 1213"), 0, "Error reading packet 1213"},
		{fmt.Errorf("%w: while saving 'foo'", server), 1062, server.Error()},
		{fmt.Errorf("Error 1213: says somebody: %w", server), 1062, server.Error()},
		{errors.Join(errors.New("first"), fmt.Errorf("x: %w", server)), 1062, server.Error()},
	} {
		n, text, ok := Number(c.err)
		if n != c.want || text != c.text || ok != (c.want != 0) {
			t.Errorf("%v: %d %q %v; want %d %q", c.err, n, text, ok, c.want, c.text)
		}
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{&modernc{2067}, 2067},
		{fmt.Errorf("saving: %w", &modernc{517}), 517},
		{errors.Join(errors.New("first"), &modernc{5}), 5},
		{mattnError{19, 1555}, 1555},
		{fmt.Errorf("saving: %w", mattnError{5, 261}), 261},
		{mattnError{19, 5}, 0},
		{&appError{5}, 0}, // a Code of something else
		{errors.New("UNIQUE constraint failed: t.a"), SQLiteUnique},
		{errors.New("sqlite3: constraint failed: UNIQUE constraint failed: t.a"), SQLiteUnique},
		{errors.New("database is locked"), SQLiteBusy},
		{errors.New("sqlite3: database table is locked: t"), SQLiteLocked},
		// Words of a user within a text are no code.
		{errors.New(`the name "UNIQUE constraint failed: t.a" is taken`), 0},
		{fmt.Errorf("UNIQUE constraint failed: t.a: %w", errors.New("says a wrapper")), 0},
	} {
		code, _, ok := SQLite(c.err)
		if code != c.want || ok != (c.want != 0) {
			t.Errorf("%v: %d, %v; want %d", c.err, code, ok, c.want)
		}
	}
}
