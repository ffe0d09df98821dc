package storeurl

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/semel-go/semel/sqlstore"
)

func openMySQL(ctx context.Context, a address, existing bool) (*Handle, error) {
	cfg, err := driverConfig(a)
	if err != nil {
		return nil, err
	}
	name := mysqlName(cfg)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	db := sql.OpenDB(connector)
	most := a.int(poolMaxConns, defaultMaxConns)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most) // each connection prepares its statements anew
	db.SetConnMaxLifetime(a.duration(poolMaxLifetime, defaultMaxLifetime))
	db.SetConnMaxIdleTime(a.duration(poolMaxIdleTime, defaultMaxIdleTime))
	store, err := sqlstore.NewMySQL(ctx, db, &sqlstore.Options{
		Prefix: a.params[tablePrefix], Timeout: a.duration(callTimeout, 0), NoMigrate: existing,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, withFix(err)), db.Close())
	}
	return &Handle{
		Store: store, Name: name, Shared: true, Warnings: mysqlWarnings(cfg), present: nothing,
		Connections: func() Connections {
			s := db.Stats()
			return Connections{InUse: s.InUse, Idle: s.Idle, Max: s.MaxOpenConnections}
		},
		close: func() error { return errors.Join(store.Close(), db.Close()) },
	}, nil
}
