package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/internal/mysql"
)

// A damaged row is a typed error to every method; the operation is not run again and
// the row is left alone.
func TestMySQLDamagedRow(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	for _, damage := range []string{"state = 77", "format = 0", "format = 2"} {
		p := claimOf(1)
		p.Key = randomKey()
		acquire(t, s, p)
		where := fmt.Sprintf(" WHERE `key` = x'%x'", p.Key[:])
		mysqlExec(t, db, "UPDATE semel_record SET "+damage+where)
		sum := func() (sum string) {
			const row = "SELECT MD5(CONCAT_WS(',', format, state, policy, token, fence, attempt, lease_until, expires_at, cause, result_kind, result)) FROM semel_record"
			if err := db.QueryRowContext(t.Context(), row+where).Scan(&sum); err != nil {
				t.Fatal(err)
			}
			return sum
		}
		before := sum()
		for what, err := range everyMethod(t.Context(), s, p) {
			if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
				t.Errorf("%s: %s: %v; want a *semel.RecordFormatError", damage, what, err)
			}
		}
		if after := sum(); after != before {
			t.Errorf("%s: the row was changed", damage)
		}
	}
}

// The driver has no method for the server's number; it is read in the text of its
// errors. These are real ones.
func TestMySQLErrorsOfTheDriver(t *testing.T) {
	t.Parallel()
	dsn := engines.MariaDB(t).Database(t)
	db := mysqlDB(t, dsn, map[string]string{"innodb_lock_wait_timeout": "1"})
	mysqlExec(t, db, "CREATE TABLE plain (id INT PRIMARY KEY, n TINYINT NOT NULL) ENGINE = InnoDB")
	mysqlExec(t, db, "INSERT INTO plain VALUES (1, 0), (2, 0)")
	_, missing := db.ExecContext(t.Context(), "UPDATE nowhere SET n = 1")
	_, tooLarge := db.ExecContext(t.Context(), "UPDATE plain SET n = 1000")
	_, unreached := mysqlDB(t, engines.Through(dsn, "127.0.0.1:1"), nil).ExecContext(t.Context(), "DO 0")
	_, killed := mysqlDB(t, dsn, nil).ExecContext(t.Context(), "KILL CONNECTION_ID()")
	locked, deadlocked := lockErrors(t, db)
	for _, c := range []struct {
		name string
		err  error
		want mysql.Class
	}{
		{"no such table", missing, mysql.Refused},
		{"out of range", tooLarge, mysql.Refused},
		{"nobody listens", unreached, mysql.Unreached},
		{"killed", killed, mysql.Unsure},
		{"lock wait", locked, mysql.Locked},
		{"deadlock", deadlocked, mysql.Conflict},
	} {
		if got := mysql.ClassOf(c.err); c.err == nil || got != c.want {
			t.Errorf("%s: %v has class %d; want %d", c.name, c.err, got, c.want)
		}
	}
}

// lockErrors provokes a lock wait that is over, and a deadlock.
func lockErrors(t *testing.T, db *sql.DB) (locked, deadlocked error) {
	t.Helper()
	begin := func(id int) *sql.Tx {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() }) // may be rolled back by the server
		if err := bump(t.Context(), tx, id); err != nil {
			t.Fatal(err)
		}
		return tx
	}
	first, second := begin(1), begin(2)
	locked = bump(t.Context(), second, 1)
	waited := make(chan error, 1)
	go func() { waited <- bump(t.Context(), first, 2) }()
	err := bump(t.Context(), second, 1)
	return locked, errors.Join(err, <-waited) // the server chooses one of them
}

func bump(ctx context.Context, tx *sql.Tx, id int) error {
	_, err := tx.ExecContext(ctx, "UPDATE plain SET n = n + 1 WHERE id = ?", id)
	return err
}
