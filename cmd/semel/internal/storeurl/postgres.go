package storeurl

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel/pgxstore"
)

func openPostgres(ctx context.Context, a address, existing bool) (*Handle, error) {
	cfg, err := poolConfig(a)
	if err != nil {
		return nil, err
	}
	opts := &pgxstore.Options{Prefix: a.params[tablePrefix], Timeout: a.duration(callTimeout, 0), NoMigrate: existing}
	if at := a.params[listenAt]; at != "" {
		direct, err := poolConfig(a.at(at))
		if err != nil {
			return nil, err
		}
		opts.Listen = direct.ConnConfig
	}
	name := postgresName(cfg.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	store, err := pgxstore.New(ctx, pool, opts)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("%s: %w", name, withFix(err))
	}
	return &Handle{
		Store: store, Name: name, Shared: true, Warnings: postgresWarnings(cfg.ConnConfig), present: nothing,
		Connections: func() Connections {
			s := pool.Stat()
			return Connections{InUse: int(s.AcquiredConns()), Idle: int(s.IdleConns()), Max: int(s.MaxConns())}
		},
		close: func() error {
			defer pool.Close()
			return store.Close()
		},
	}, nil
}
