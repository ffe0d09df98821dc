package integration

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/semel-go/semel/sqlstore"
)

// What SQLite cannot make durable is refused, with the fix.
func TestSQLiteRefusesWhatCannotBeDurable(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{":memory:", "", "file:x?mode=memory&cache=shared"} {
		_, err := sqlstore.OpenSQLite(t.Context(), connectorTo(t, dsn), nil)
		if err == nil || !strings.Contains(err.Error(), "wal") || !strings.Contains(err.Error(), "memstore") {
			t.Errorf("%q: %v; want a refusal that names the fix", dsn, err)
		}
	}
}

// The driver's defaults are not fit: a bare pool on them is refused, one with the
// settings in its name is taken.
func TestSQLiteBareDBWithDefaultsIsRefused(t *testing.T) {
	t.Parallel()
	for pragmas, want := range map[string]string{
		"": "journal_mode=WAL",
		"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(1000)&_pragma=synchronous(NORMAL)": "synchronous=FULL",
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(0)":      "busy_timeout",
	} {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "app.db")+pragmas)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := sqlstore.NewSQLite(t.Context(), db, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want a refusal that says %s", pragmas, err, want)
		}
	}
}

// Settings in the data source name do not win over the store's.
func TestSQLiteSettingsHoldOnEveryConnection(t *testing.T) {
	t.Parallel()
	dsn := "file:" + filepath.Join(t.TempDir(), "semel.db") + "?_pragma=synchronous(OFF)&_pragma=busy_timeout(0)"
	s := openConnector(t, connectorTo(t, dsn), nil)
	for range 3 {
		c, err := s.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for query, want := range map[string]string{"PRAGMA journal_mode": "wal", "PRAGMA synchronous": "2", "PRAGMA busy_timeout": "5000"} {
			var got string
			if err := c.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, %v; want %s", query, got, err, want)
			}
		}
	}
}

// Several programs start on one new file at once: each table is made once.
func TestSQLiteMigratesOnceWhenManyStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	var starters sync.WaitGroup
	for range 8 {
		starters.Go(func() {
			s, err := sqlstore.OpenSQLite(t.Context(), connectorTo(t, file), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	starters.Wait()
	steps, err := sqlstore.Migrations("sqlite", nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := schemaRows(t, openSQLite(t, file, nil)); n != len(steps) {
		t.Errorf("%d steps were recorded; want each of the %d once", n, len(steps))
	}
}

func schemaRows(t *testing.T, s *sqlstore.Store) (n int) {
	t.Helper()
	if err := s.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM semel_schema").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Two neighbouring versions work on one file; one that is too old is refused.
func TestSQLiteNewerSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		compatible int
		refused    bool
	}{{1, false}, {99, true}} {
		file := filepath.Join(t.TempDir(), "semel.db")
		s := openSQLite(t, file, nil)
		if _, err := s.DB().ExecContext(t.Context(), "INSERT INTO semel_schema VALUES (99, ?, 0)", c.compatible); err != nil {
			t.Fatal(err)
		}
		old, err := sqlstore.OpenSQLite(t.Context(), connectorTo(t, file), nil)
		if err == nil {
			old.Close()
		}
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "upgrade") {
			t.Errorf("schema 99, compatible with %d: %v; refused should be %v", c.compatible, err, c.refused)
		}
	}
}

// Two stores with their own prefixes share a file and nothing else.
func TestSQLitePrefixesAreApart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	a, b := openSQLite(t, file, &sqlstore.Options{Prefix: "a_"}), openSQLite(t, file, &sqlstore.Options{Prefix: "b_"})
	acquire(t, a, claimOf(1))
	acquire(t, b, claimOf(1))
}

// The application's own tables may live in the same file, through DB.
func TestSQLiteApplicationTablesBesideTheStore(t *testing.T) {
	t.Parallel()
	s := openSQLite(t, "", nil)
	if _, err := s.DB().ExecContext(t.Context(), "CREATE TABLE orders (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, claimOf(1))
	if _, err := s.DB().ExecContext(t.Context(), "INSERT INTO orders VALUES (1)"); err != nil {
		t.Error(err)
	}
}
