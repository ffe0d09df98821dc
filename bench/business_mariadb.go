package main

import (
	"context"

	"github.com/semel-go/semel/bench/internal/window"
)

var mariadbBusinessTables = []string{
	"CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL) ENGINE = InnoDB",
	"INSERT INTO accounts SELECT seq, 1000000000 FROM seq_0_to_9999",
	"CREATE TABLE ledger (id bigint PRIMARY KEY AUTO_INCREMENT, account int NOT NULL, amount bigint NOT NULL, at timestamp NOT NULL DEFAULT now()) ENGINE = InnoDB",
	"CREATE TABLE inbox (idem_key varchar(64) PRIMARY KEY, response blob, at timestamp NOT NULL DEFAULT now()) ENGINE = InnoDB",
}

// businessMariaDBSuite compares the transaction on MariaDB.
func businessMariaDBSuite(ctx context.Context, cfg window.Config) (*window.Table, error) {
	m, err := openMariaDB(ctx, &cfg, "business")
	if err != nil {
		return nil, err
	}
	defer m.close(ctx)
	if err := m.exec(ctx, mariadbBusinessTables...); err != nil {
		return nil, err
	}
	store, err := m.store(ctx, nil)
	if err != nil {
		return nil, err
	}
	return businessOn(ctx, cfg, "Business transaction, MariaDB", store, otherBusiness)
}
