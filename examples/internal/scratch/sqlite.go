package scratch

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/semel-go/semel/sqlstore"
)

func openSQLite(ctx context.Context, _ string) (store *sqlstore.Store, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "semel-example-")
	if err != nil {
		return nil, nil, err
	}
	connector, err := sqlstore.Connector(&sqlite.Driver{}, filepath.Join(dir, "shop.db"))
	if err == nil {
		store, err = sqlstore.OpenSQLite(ctx, connector, nil)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return store, func() error { return errors.Join(store.Close(), os.RemoveAll(dir)) }, nil
}
