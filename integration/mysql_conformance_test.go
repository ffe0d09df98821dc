package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/sqlstore"
	"github.com/semel-go/semel/storetest"
)

// mysqlSessions are the settings of drivers and sessions that could change what a
// statement means.
func mysqlSessions() map[string]map[string]string {
	return map[string]map[string]string{
		"defaults": nil,
		"lax": {
			"interpolateParams": "true", "parseTime": "true", "loc": "Asia/Kathmandu", "time_zone": "'+05:45'", "clientFoundRows": "true",
			"sql_mode": "''", "tx_isolation": "'READ-COMMITTED'", "charset": "latin1", "collation": "latin1_swedish_ci",
		},
		"strict": {
			"tx_isolation": "'SERIALIZABLE'", "sql_mode": "'ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION'",
		},
	}
}

func TestMySQLConformance(t *testing.T) {
	t.Parallel()
	for name, params := range mysqlSessions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := mysqlDB(t, engines.MariaDB(t).Database(t), params)
			var stores atomic.Int64
			storetest.Run(t, storetest.Harness{New: func(ctx context.Context) (*storetest.Subject, error) {
				return mysqlSubject(ctx, db, fmt.Sprintf("case%d_", stores.Add(1)))
			}})
		})
	}
}

// mysqlSubject is a store with tables of its own. The clock is the server's, so a
// caller whose clock is off is a caller like any other.
func mysqlSubject(ctx context.Context, db *sql.DB, prefix string) (*storetest.Subject, error) {
	var handles []*sqlstore.Store
	open := func(ctx context.Context) (semel.Store, error) {
		s, err := sqlstore.NewMySQL(ctx, db, &sqlstore.Options{Prefix: prefix})
		if err == nil {
			handles = append(handles, s)
		}
		return s, err
	}
	store, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return &storetest.Subject{
		Store: store, Reopen: open,
		Advance: func(ctx context.Context, d time.Duration) error { return mysqlAdvance(ctx, db, prefix, d) },
		Skewed:  func(ctx context.Context, _ time.Duration) (semel.Store, error) { return open(ctx) },
		SetFormat: func(ctx context.Context, key semel.KeyID, format int) error {
			_, err := db.ExecContext(ctx, fmt.Sprintf("UPDATE %srecord SET format = %d WHERE `key` = x'%x'", prefix, format, key[:]))
			return err
		},
		Close: func() (err error) {
			for _, s := range handles {
				err = errors.Join(err, s.Close())
			}
			return err
		},
	}, nil
}
