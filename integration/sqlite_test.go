package integration

import (
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/semel-go/semel/sqlstore"
	"modernc.org/sqlite"
)

// connectorTo returns a modernc.org/sqlite connector with the driver's defaults.
func connectorTo(t testing.TB, dsn string) driver.Connector {
	t.Helper()
	c, err := sqlstore.Connector(&sqlite.Driver{}, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openSQLite opens a store on a file; empty is a new one.
func openSQLite(t testing.TB, file string, opts *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	if file == "" {
		file = filepath.Join(t.TempDir(), "semel.db")
	}
	return openConnector(t, connectorTo(t, file), opts)
}

func openConnector(t testing.TB, c driver.Connector, opts *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.OpenSQLite(t.Context(), c, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
