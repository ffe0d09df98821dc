package storeurl

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/semel-go/semel/sqlstore"
)

func openSQLite(ctx context.Context, file string, existing bool) (*Handle, error) {
	path, connector, err := connectorOf(file)
	if err != nil {
		return nil, err
	}
	if err := prepare(path, existing); err != nil {
		return nil, err
	}
	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
	if err != nil {
		return nil, fmt.Errorf("sqlite:%s: %w", file, explained(path, err))
	}
	opened, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Handle{
		Store: store, Name: "sqlite:" + file, Shared: true, close: store.Close,
		present: func() error { return same(path, opened) },
	}, nil
}

// connectorOf opens nothing yet.
func connectorOf(file string) (path string, c driver.Connector, err error) {
	if path, err = filepath.Abs(file); err != nil {
		return "", nil, fmt.Errorf("sqlite:%s: %w", file, err)
	}
	// As a URI, so that no character of the path is taken for a parameter.
	c, err = sqlite.NewConnector((&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		return "", nil, fmt.Errorf("sqlite:%s: %w", file, err)
	}
	return path, c, nil
}

// checkSQLite refuses a file whose tables opening it would make or change.
func checkSQLite(ctx context.Context, file string) (err error) {
	script, err := NewScript(string(ofSQLite), "")
	if err != nil {
		return err
	}
	path, connector, err := connectorOf(file)
	if err != nil {
		return err
	}
	if err := prepare(path, true); err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables, version int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'semel_schema'").Scan(&tables); err != nil {
		return fmt.Errorf("sqlite:%s: %w", file, explained(path, err))
	}
	if tables > 0 {
		if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM semel_schema").Scan(&version); err != nil {
			return fmt.Errorf("sqlite:%s: %w", file, err)
		}
	}
	if version < script.version() {
		return fmt.Errorf("sqlite:%s: the tables have version %d, and %d is needed; run semel migrate", file, version, script.version())
	}
	return nil
}

// prepare makes a missing file, unless it has to be there.
func prepare(path string, existing bool) error {
	if !existing {
		return create(path)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w; name the file that the gateway uses, or make it with semel migrate", err)
	}
	return nil
}

// create makes a missing file that only its owner reads: records hold answers.
// SQLite gives the files that it keeps beside it the same rights.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrExist):
		return nil // it is not opened here: closing it would end the locks of this process
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; make the folder %s first", err, filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; let this user write to %s", err, filepath.Dir(path))
	}
	return err
}

// explained adds why the system does not let a file be opened, which SQLite does
// not say.
func explained(path string, err error) error {
	f, reason := os.OpenFile(path, os.O_RDWR, 0)
	if reason == nil {
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("%w (%w); SQLite needs to read and write the file and its folder", err, reason)
}

// same reports whether another file, or none, is now at path.
func same(path string, opened os.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("the store's file is gone, and with this process its records would be: %w; save them before a restart", err)
	case !os.SameFile(opened, now):
		return fmt.Errorf("another file is now at %s: this process goes on with the one that it opened, others use the new one; restart it", path)
	}
	return nil
}
