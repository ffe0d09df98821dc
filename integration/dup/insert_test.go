package dup

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
)

func TestInsertTellsADuplicate(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, db *databases.DB, p place) {
		db.Must(t, "INSERT INTO orders (id, number) VALUES (1, 'a')")
		q, commit := p.open(t, db)
		for _, c := range []struct {
			id     int
			number string
			want   bool
		}{{2, "b", true}, {3, "b", false}, {4, "a", false}, {1, "z", false}, {5, "c", true}} {
			got, err := dup.Insert(t.Context(), q, db.Text(insert), c.id, c.number, nil, 1)
			if got != c.want || err != nil {
				t.Errorf("order %d, %q: %v, %v; want %v", c.id, c.number, got, err, c.want)
			}
		}
		if err := commit(); err != nil {
			t.Errorf("commit: %v", err)
		}
		if n := rows(t, db); n != 3 {
			t.Errorf("%d rows, want 3", n)
		}
	})
}

// Public tracker: errors that are no duplicates are swallowed as such (INSERT IGNORE).
func TestFailuresAreNoDuplicates(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, db *databases.DB, p place) {
		q, commit := p.open(t, db)
		for name, args := range map[string][]any{
			"foreign key": {1, "a", nil, 99},
			"NULL":        {1, nil, nil, 1},
			"too long":    {1, strings.Repeat("a", 21), nil, 1},
		} {
			got, err := dup.Insert(t.Context(), q, db.Text(insert), args...)
			if got || err == nil || dup.Is(err) || dup.Retryable(err) || dup.Is(err, slices.Concat(customer, number, email)...) {
				t.Errorf("%s: %v, %v; want an error that is no duplicate", name, got, err)
			}
		}
		if _, err := dup.Insert(t.Context(), q, db.Text("INSERT INTO nowhere (id) VALUES (?)"), 1); err == nil || dup.Is(err) {
			t.Errorf("no such table: %v", err)
		}
		if got, err := dup.Insert(t.Context(), q, db.Text(insert), 1, "a", nil, 1); !got || err != nil {
			t.Errorf("after all that: %v, %v; want the transaction as usable as before", got, err)
		}
		if err := commit(); err != nil {
			t.Errorf("commit: %v", err)
		}
		if n := rows(t, db); n != 1 {
			t.Errorf("%d rows, want 1", n)
		}
	})
}

// Public tracker: another unique violation is mistaken for "already done".
func TestOtherConstraintsAreErrors(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, db *databases.DB, p place) {
		db.Must(t, "INSERT INTO orders (id, number, email) VALUES (1, 'a', 'x@y')")
		q, commit := p.open(t, db)
		byNumber := dup.On(number...)
		if got, err := byNumber.Insert(t.Context(), q, db.Text(insert), 2, "a", nil, 1); got || err != nil {
			t.Errorf("the number: %v, %v; want a duplicate", got, err)
		}
		got, err := byNumber.Insert(t.Context(), q, db.Text(insert), 2, "b", "x@y", 1)
		if got || !dup.Is(err) || !dup.Is(err, email...) || byNumber.Is(err) {
			t.Errorf("the address: %v, %v; want the error, which tells the constraint", got, err)
		}
		_, err = byNumber.Insert(t.Context(), q, db.Text(insert), 1, "b", nil, 1)
		if !dup.Is(err, primary...) || dup.Is(err, slices.Concat(number, email)...) {
			t.Errorf("the primary key: %v", err)
		}
		if got, err := byNumber.Insert(t.Context(), q, db.Text(insert), 2, "b", nil, 1); !got || err != nil {
			t.Errorf("a new one: %v, %v", got, err)
		}
		if err := commit(); err != nil {
			t.Errorf("commit: %v", err)
		}
	})
}

func TestViolationsTellTheirConstraint(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		create(t, db)
		db.Must(t,
			"CREATE TABLE pair (a INT, b VARCHAR(60), CONSTRAINT pair_key UNIQUE (a, b))",
			"INSERT INTO pair VALUES (1, 'b'), (2, 'c'' for key ''orders_number_key')",
			"INSERT INTO orders (id, number) VALUES (1, 'a')")
		lite := db.Engine.Dialect == databases.SQLite
		name := func(server, sqlite string) string {
			if lite {
				return sqlite
			}
			return server
		}
		for statement, want := range map[string]string{
			"INSERT INTO orders (id, number) VALUES (2, 'a')":                name("orders_number_key", "orders.number"),
			"INSERT INTO pair VALUES (1, 'b')":                               name("pair_key", "pair.a, pair.b"),
			"INSERT INTO pair VALUES (2, 'c'' for key ''orders_number_key')": name("pair_key", "pair.a, pair.b"),
			"UPDATE pair SET a = 1, b = 'b' WHERE a = 2":                     name("pair_key", "pair.a, pair.b"),
		} {
			_, err := db.ExecContext(t.Context(), statement)
			v, ok := dup.Of(err)
			if !ok || v.Constraint != want || !dup.Is(err, want) {
				t.Errorf("%s: %+v, %v; want %q", statement, v, err, want)
			}
			table := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(statement, "INSERT INTO "), "UPDATE "))[0]
			if db.Engine.Dialect != databases.MariaDB && v.Table != table {
				t.Errorf("%s: table %q, want %q", statement, v.Table, table)
			}
		}
	})
}

func TestIndexOnAnExpression(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		if db.Engine.Dialect == databases.MariaDB {
			return // it has none
		}
		db.Must(t, "CREATE TABLE person (name VARCHAR(20))", "CREATE UNIQUE INDEX person_lower ON person (lower(name))")
		for i, want := range []bool{true, false} {
			got, err := dup.On("person_lower").Insert(t.Context(), db, db.Text("INSERT INTO person VALUES (?)"), []string{"Ann", "ANN"}[i])
			if got != want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	})
}

func TestOnConflictDoNothing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, db *databases.DB, p place) {
		if db.Engine.Dialect == databases.MariaDB {
			return // it has none
		}
		q, commit := p.open(t, db)
		statement := db.Text(insert + " ON CONFLICT (number) DO NOTHING")
		for _, want := range []bool{true, false} {
			got, err := dup.Insert(t.Context(), q, statement, 1, "a", "a@b", 1)
			if got != want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
		for _, constraints := range [][]string{email, primary} { // the statement says that they are no answer
			args := []any{2, "b", "a@b", 1}
			if constraints[0] == primary[0] {
				args = []any{1, "b", nil, 1}
			}
			if got, err := dup.Insert(t.Context(), q, statement, args...); got || !dup.Is(err, constraints...) {
				t.Errorf("%v: %v, %v; want the error", constraints, got, err)
			}
		}
		if err := commit(); err != nil {
			t.Error(err)
		}
	})
}

// What is equal says the index: in MariaDB the collation, which knows neither case nor
// blanks at the end; and a NULL is equal to nothing.
func TestEqualIsWhatTheIndexSays(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		create(t, db)
		ignores := db.Engine.Dialect == databases.MariaDB
		for i, c := range []struct {
			number string
			want   bool
		}{{"a", true}, {"A", !ignores}, {"a ", !ignores}, {"b", true}} {
			if got, err := dup.Insert(t.Context(), db, db.Text(insert), i, c.number, nil, 1); got != c.want || err != nil {
				t.Errorf("%q: %v, %v; want %v", c.number, got, err, c.want)
			}
		}
	})
}

// A partition has constraints of its own, and what is inserted through a view meets those
// of its table.
func TestPartitionsAndViews(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		if db.Engine.Dialect != databases.Postgres {
			return // others name the table's key, or have no views to insert into
		}
		db.Must(t, "CREATE TABLE part (id INT, CONSTRAINT part_key UNIQUE (id)) PARTITION BY RANGE (id)",
			"CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (0) TO (10)", "INSERT INTO part VALUES (1)",
			"CREATE TABLE plain (id INT CONSTRAINT plain_key UNIQUE)", "CREATE VIEW seen AS SELECT * FROM plain", "INSERT INTO seen VALUES (1)")
		for table, want := range map[string]string{"part": "part_low_id_key", "seen": "plain_key"} {
			_, err := dup.On("part_key").Insert(t.Context(), db, db.Text("INSERT INTO "+table+" VALUES (?)"), 1)
			if v, _ := dup.Of(err); v.Constraint != want {
				t.Errorf("%s: %+v, want %s", table, v, want)
			}
		}
	})
}

// A deferred constraint is checked by the commit.
func TestDeferredConstraint(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		if db.Engine.Dialect != databases.Postgres {
			return // only it has them
		}
		db.Must(t, "CREATE TABLE late (id INT, CONSTRAINT late_key UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)", "INSERT INTO late VALUES (1)")
		statement := db.Text("INSERT INTO late VALUES (?)")
		if got, err := dup.On("late_key").Insert(t.Context(), db, statement, 1); got || err != nil {
			t.Errorf("on a pool: %v, %v; want a duplicate", got, err)
		}
		tx := db.Begin(t, sql.LevelDefault)
		if got, err := dup.Insert(t.Context(), tx, statement, 1); !got || err != nil {
			t.Errorf("in a transaction: %v, %v", got, err)
		}
		if err := tx.Commit(); !dup.Is(err, "late_key") {
			t.Errorf("commit: %v; want the duplicate", err)
		}
	})
}

// A trigger that takes the row away makes it no duplicate.
func TestTriggers(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		if db.Engine.Dialect != databases.Postgres {
			return // others cannot take a row away in silence
		}
		db.Must(t, "CREATE TABLE part (id INT)",
			"CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
			"CREATE TRIGGER away BEFORE INSERT ON part FOR EACH ROW EXECUTE FUNCTION away()")
		if got, err := dup.Insert(t.Context(), db, db.Text("INSERT INTO part VALUES (?)"), 1); got || !errors.Is(err, dup.ErrNoRow) {
			t.Errorf("%v, %v; want ErrNoRow", got, err)
		}
	})
}
