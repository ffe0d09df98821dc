package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
)

// Connector returns a connector for a driver and a data source name, as sql.Open
// would use it.
func Connector(d driver.Driver, dsn string) (driver.Connector, error) {
	if d == nil {
		return nil, errors.New("sqlstore: the driver is nil; pass one, such as &sqlite.Driver{} of modernc.org/sqlite")
	}
	if dc, ok := d.(driver.DriverContext); ok {
		return dc.OpenConnector(dsn)
	}
	return dsnConnector{driver: d, dsn: dsn}, nil
}

type dsnConnector struct {
	driver driver.Driver
	dsn    string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

func (c dsnConnector) Driver() driver.Driver { return c.driver }
