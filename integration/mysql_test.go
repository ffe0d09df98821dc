package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
)

// mysqlDB opens a database with parameters that are added to its DSN.
func mysqlDB(t testing.TB, dsn string, params map[string]string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Params = params
	if cfg, err = mysql.ParseDSN(cfg.FormatDSN()); err != nil { // those that are the driver's own
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(40)
	db.SetMaxIdleConns(40)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// mysqlStore opens a store for a test.
func mysqlStore(t testing.TB, db *sql.DB, opts *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.NewMySQL(t.Context(), db, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// mysqlAdvance moves all times of the stored records back, as if d had gone by.
func mysqlAdvance(ctx context.Context, db *sql.DB, prefix string, d time.Duration) error {
	back := fmt.Sprintf("- %d", d.Microseconds())
	_, err := db.ExecContext(ctx, fmt.Sprintf(`UPDATE %srecord SET lease_until = lease_until %[2]s, started_at = started_at %[2]s,
		doubt_since = IF(doubt_since = 0, 0, doubt_since %[2]s), expires_at = IF(expires_at IN (0, %[3]d), expires_at, expires_at %[2]s)`,
		prefix, back, int64(math.MaxInt64)))
	return err
}

// mysqlClaim are parameters of an ordinary claim.
func mysqlClaim(key semel.KeyID) semel.ClaimParams {
	return semel.ClaimParams{
		Key: key, Token: semel.NewToken(), Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour, Operation: "charge",
	}
}

// randomKey is a key of its own.
func randomKey() semel.KeyID { return semel.KeyID(semel.NewToken()) }

func mysqlDone(key semel.KeyID, token semel.Token, data string) semel.FinishParams {
	return semel.FinishParams{
		Key: key, Token: token, State: semel.StateDone, Retention: time.Hour,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte(data)},
	}
}

// mysqlExec runs a statement that must succeed.
func mysqlExec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// isMySQLConflict reports a deadlock or a lock that was waited for too long.
func isMySQLConflict(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && (e.Number == 1213 || e.Number == 1205)
}
