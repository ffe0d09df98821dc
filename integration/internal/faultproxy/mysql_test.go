package faultproxy

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

// If a turn were counted wrongly, the cut would come too early or never.
func TestMySQLTurns(t *testing.T) {
	t.Parallel()
	dsn := engines.MariaDB(t).Database(t)
	for name, turns := range map[string]func(*sql.DB) error{
		"none": func(*sql.DB) error { return nil },
		"ping": func(db *sql.DB) error { return db.Ping() },
		"errors": func(db *sql.DB) error {
			for _, wrong := range []string{"SELECT nothing", "SELECT nothing WHERE 1 = ?"} {
				if _, err := db.Exec(wrong, make([]any, strings.Count(wrong, "?"))...); err == nil {
					return errors.New("no error: " + wrong)
				}
			}
			return nil
		},
		"statements without rows, columns or parameters": func(db *sql.DB) error {
			return all(db, "SELECT * FROM mysql.plugin", "SELECT * FROM mysql.plugin WHERE name = 1", "DO 0")
		},
		"prepared without parameters": func(db *sql.DB) error { return prepared(db, "SELECT 1") },
		"prepared without columns":    func(db *sql.DB) error { return prepared(db, "DO ?", 1) },
		"prepared without either":     func(db *sql.DB) error { return prepared(db, "DO 0") },
		"prepared with both":          func(db *sql.DB) error { return prepared(db, "SELECT name FROM mysql.plugin WHERE name = ?", 1) },
		"several results": func(db *sql.DB) error {
			return all(db, "SELECT 1; DO 0; SELECT 2 UNION SELECT 3")
		},
		"large rows": func(db *sql.DB) error {
			var got string
			if err := db.QueryRow("SELECT REPEAT('x', ?)", 1<<20).Scan(&got); err != nil {
				return err
			}
			if len(got) != 1<<20 {
				return errors.New("the row is not whole")
			}
			return nil
		},
		"large parameters": func(db *sql.DB) error {
			var got int
			if err := db.QueryRow("SELECT LENGTH(?)", strings.Repeat("x", 5<<20)).Scan(&got); err != nil {
				return err
			}
			if got != 5<<20 {
				return errors.New("the parameter is not whole")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, "mysql", dsn, "?multiStatements=true")
			c.db.SetMaxOpenConns(1)
			if err := turns(c.db); err != nil {
				t.Fatal(err)
			}
			cut := c.proxy.Arm(isInsert, CutReply())
			if err := <-c.inserting(1); err == nil {
				t.Error("the client got a reply")
			}
			<-cut.Fired()
			if got := c.rows(t); got != 1 {
				t.Errorf("there are %d rows, want the one of the executed statement", got)
			}
		})
	}
}

// all runs queries and reads their rows.
func all(db *sql.DB, queries ...string) error {
	for _, q := range queries {
		rows, err := db.Query(q)
		if err != nil {
			return err
		}
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				continue
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

func prepared(db *sql.DB, query string, parameters ...any) error {
	s, err := db.Prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.Query(parameters...)
	if err != nil {
		return err
	}
	for rows.Next() {
		continue
	}
	return errors.Join(rows.Err(), rows.Close(), s.Close())
}
