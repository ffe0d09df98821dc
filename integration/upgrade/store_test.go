package upgrade

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
	"github.com/semel-go/semel/storetest"
	"modernc.org/sqlite"
)

// later is for how long after the fixture was written its records are looked at:
// short leases are over, retentions are not.
const later = time.Hour

// open opens a store whose clock stands at the time at which fixtures are written.
func open(t testing.TB, file string) (*sqlstore.Store, *storetest.Clock) {
	t.Helper()
	clock := storetest.NewClock()
	store, err := openAt(t.Context(), file, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, clock
}

// openAt opens a store with a clock; nil is this host's.
func openAt(ctx context.Context, file string, now func() time.Time) (*sqlstore.Store, error) {
	connector, err := sqlstore.Connector(&sqlite.Driver{}, file)
	if err != nil {
		return nil, err
	}
	return sqlstore.OpenSQLite(ctx, connector, &sqlstore.Options{Now: now})
}

// openFixture opens a copy of a fixture's store, an hour after it was written.
func openFixture(t *testing.T, dir string) *sqlstore.Store {
	t.Helper()
	store, clock := open(t, copyOf(t, filepath.Join(dir, storeFile)))
	if err := clock.Advance(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	return store
}

func copyOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(fresh, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return fresh
}

const storeFile = "store.sqlite"

// fixtures runs a test on every format that was ever released.
func fixtures(t *testing.T, test func(t *testing.T, dir string)) {
	dirs, err := filepath.Glob(filepath.Join("testdata", "format*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			test(t, dir)
		})
	}
}

// fixtureOf is the folder of a format.
func fixtureOf(format int) string { return filepath.Join("testdata", fmt.Sprint("format", format)) }

// engineOn returns an engine that is closed with the test.
func engineOn(t testing.TB, store semel.Store, opts *semel.Options) *semel.Engine {
	t.Helper()
	e, err := semel.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

// tokenOf and fingerprintOf are the same in every version of the writer.
func tokenOf(name string) semel.Token { s := sha256.Sum256([]byte(name)); return semel.Token(s[:16]) }

func fingerprintOf(name string) (fp semel.Fingerprint) {
	s := sha256.Sum256([]byte(name))
	fp[0] = 1
	copy(fp[1:], s[:])
	return fp
}

// dump is all that the table holds, row by row, but for the columns that are left
// out.
func dump(t *testing.T, s *sqlstore.Store, without string) (rows []string) {
	t.Helper()
	found, err := s.DB().QueryContext(t.Context(), "SELECT * FROM semel_record ORDER BY key")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := found.Scan(places...); err != nil {
			t.Fatal(err)
		}
		var row strings.Builder
		for i, column := range columns {
			if column != without {
				fmt.Fprintf(&row, "%s=%x ", column, values[i])
			}
		}
		rows = append(rows, row.String())
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}
