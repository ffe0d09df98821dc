package backends

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/semel-go/semel/sqlstore"
	driver "modernc.org/sqlite"
)

// SQLite is a file.
func SQLite() Backend {
	return Backend{
		Name: "SQLite", Engine: "SQLite", dialect: sqlite,
		Database: func(t testing.TB) string { return filepath.Join(t.TempDir(), "semel.db") },
		Open:     openSQLite,
	}
}

func openSQLite(ctx context.Context, file string) (*Handle, error) {
	connector, err := sqlstore.Connector(&driver.Driver{}, file)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
	if err != nil {
		return nil, err
	}
	return &Handle{Store: store, DB: store.DB(), dialect: sqlite, closers: []func() error{store.Close}}, nil
}
