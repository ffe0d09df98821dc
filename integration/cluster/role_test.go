package cluster

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// limitedRole is a role of a database that may log in and, for now, no more.
type limitedRole struct {
	db       *sql.DB // as the owner
	mysql    bool
	name     string // as statements have it
	database string
	url      string // --store, as this role
}

// awkward is a password with what an address gives another meaning.
const awkward = "p@ss/w#r:d?%"

func addRole(t *testing.T, store string) *limitedRole {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	r := &limitedRole{db: connect(t, store), mysql: u.Scheme == "mysql", database: u.Path[1:]}
	user := "semel_" + r.database
	u.User = url.UserPassword(user, awkward)
	r.name, r.url = user, u.String()
	if r.mysql {
		r.name += "@'127.0.0.1'"
		r.exec(t, "CREATE USER "+r.name+" IDENTIFIED BY '"+awkward+"'", "GRANT SELECT ON "+r.database+".* TO "+r.name)
	} else {
		r.exec(t, "CREATE ROLE "+user+" LOGIN PASSWORD '"+awkward+"'", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	}
	t.Cleanup(func() { r.drop(t) })
	return r
}

// grant gives the role what the guides name, and nothing beside.
func (r *limitedRole) grant(t *testing.T) {
	t.Helper()
	if r.mysql {
		r.exec(t, "REVOKE SELECT ON "+r.database+".* FROM "+r.name)
	} else {
		r.exec(t, "GRANT USAGE ON SCHEMA public TO "+r.name)
	}
	r.exec(t,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON semel_record TO "+r.name,
		"GRANT SELECT, UPDATE ON semel_floor TO "+r.name,
		"GRANT SELECT ON semel_schema TO "+r.name)
}

func (r *limitedRole) drop(t *testing.T) {
	if r.mysql {
		r.exec(t, "DROP USER "+r.name)
		return
	}
	r.exec(t, "DROP OWNED BY "+r.name, "DROP ROLE "+r.name)
}

func (r *limitedRole) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := r.db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// tables are all columns and indexes of a database, and the versions of the schema.
func tables(t *testing.T, store string) string {
	t.Helper()
	queries := []string{
		"SELECT concat_ws(' ', table_name, column_name, ordinal_position, data_type, is_nullable, column_default) FROM information_schema.columns WHERE table_schema = %s ORDER BY table_name, ordinal_position",
		"SELECT concat_ws(' ', version, compatible) FROM semel_schema ORDER BY version",
	}
	schema := "database()"
	if strings.HasPrefix(store, "mysql") {
		queries = append(queries, "SELECT concat_ws(' ', table_name, index_name, seq_in_index, column_name) FROM information_schema.statistics WHERE table_schema = %s ORDER BY 1",
			"SELECT concat_ws(' ', table_name, engine, row_format) FROM information_schema.tables WHERE table_schema = %s ORDER BY 1")
	} else {
		schema = "current_schema()"
		queries = append(queries, "SELECT indexdef FROM pg_indexes WHERE schemaname = %s ORDER BY 1",
			"SELECT concat_ws(' ', relname, reloptions) FROM pg_class WHERE relnamespace = %s::regnamespace ORDER BY 1")
	}
	var all []string
	db := connect(t, store)
	for _, query := range queries {
		if strings.Contains(query, "%s") {
			query = fmt.Sprintf(query, schema)
		}
		all = append(all, texts(t, db, query)...)
	}
	return strings.Join(all, "\n")
}

func texts(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return all
}
