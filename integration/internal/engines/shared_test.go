package engines

import (
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
)

func TestDatabasesOfSharedServers(t *testing.T) {
	t.Parallel()
	for driver, database := range map[string]func(testing.TB) string{
		"pgx":      func(t testing.TB) string { return Postgres(t).Database(t) },
		"postgres": func(t testing.TB) string { return Postgres(t).Database(t) },
		"mysql":    func(t testing.TB) string { return MariaDB(t).Database(t) },
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			db := open(t, driver, database(t))
			for _, statement := range []string{"CREATE TABLE t (n int)", "INSERT INTO t VALUES (7)"} {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			if got := number(t, db, "SELECT n FROM t"); got != 7 {
				t.Errorf("got %d", got)
			}
		})
	}
}

func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func number(t testing.TB, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
