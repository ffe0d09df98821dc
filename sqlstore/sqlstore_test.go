package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"
)

func wantText(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %v; want one that says %q", what, err, text)
	}
}

func TestContradictoryOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts Options
		text string
	}{
		{Options{Prefix: `x"; DROP TABLE y; --`}, "Prefix"},
		{Options{Prefix: "Semel_"}, "lower-case"},
		{Options{Prefix: strings.Repeat("p", 32)}, "31"},
		{Options{BusyTimeout: time.Microsecond}, "BusyTimeout"},
		{Options{BusyTimeout: -1}, "BusyTimeout"},
		{Options{MaxBatch: -1}, "MaxBatch"},
	} {
		_, err := OpenSQLite(t.Context(), dsnConnector{}, &c.opts)
		wantText(t, "OpenSQLite", err, c.text)
	}
}

func TestMissingDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	_, err := OpenSQLite(t.Context(), nil, nil)
	wantText(t, "OpenSQLite", err, "sqlstore.Connector")
	_, err = NewSQLite(t.Context(), nil, nil)
	wantText(t, "NewSQLite", err, "OpenSQLite")
	db := sql.OpenDB(dsnConnector{driver: plainDriver{}})
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = NewSQLite(t.Context(), db, nil)
	wantText(t, "NewSQLite with one connection", err, "SetMaxOpenConns")
}

func TestConnectorOfADriverWithoutConnectors(t *testing.T) {
	t.Parallel()
	c, err := Connector(plainDriver{}, "some.db")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(context.Background()); err == nil || err.Error() != "opened some.db" {
		t.Errorf("Connect: %v; want the driver's Open of the name", err)
	}
	if c.Driver() != (plainDriver{}) {
		t.Error("another driver")
	}
}

type plainDriver struct{}

func (plainDriver) Open(name string) (driver.Conn, error) { return nil, errors.New("opened " + name) }
