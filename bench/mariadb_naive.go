package main

import (
	"context"
	"strings"
)

const (
	mariadbTable = `CREATE TABLE idempotency_keys (idem_key varchar(64) PRIMARY KEY, status varchar(16) NOT NULL, response blob,
		created_at bigint NOT NULL, expires_at bigint NOT NULL, KEY (expires_at)) ENGINE=InnoDB`

	// Unlike INSERT IGNORE it hides no other error.
	mariadbInsertOnce = naiveInsert + " ON DUPLICATE KEY UPDATE idem_key = idem_key"
)

func openNaiveMariaDB(ctx context.Context, m *mariadb) (*naive, error) {
	if err := m.exec(ctx, mariadbTable); err != nil {
		return nil, err
	}
	db, err := m.db()
	if err != nil {
		return nil, err
	}
	n := &naive{db: db}
	return n, n.prepare(ctx, mariadbInsertOnce)
}

// mariadbScript is the single statements as text.
func mariadbScript() string {
	insert := strings.NewReplacer("?, 'started', ?, ?", "@k := UUID(), 'started', 0, 1").Replace(mariadbInsertOnce)
	update := strings.NewReplacer("response = ?", "response = '"+strings.Repeat("r", payload)+"'", "idem_key = ?", "idem_key = @k").Replace(naiveUpdate)
	return insert + ";" + update + " AND status = 'started';"
}
