package lock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/semel-go/semel/internal/mysql"
)

// Tx is a transaction: a *sql.Tx, a *sql.Conn after its BEGIN, or a pgx.Tx through
// pgxstore.LockTx. What belongs to it ends with it: nothing here outlives a transaction, since a
// lock of a session is stranded behind a pooler.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// rowTx is a Tx of database/sql.
type rowTx interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Dialect is a kind of database.
type Dialect uint8

// The kinds of databases.
const (
	Postgres Dialect = iota + 1
	MySQL            // and MariaDB
	SQLite
)

// String names the dialect as package sqlstore does.
func (d Dialect) String() string {
	switch d {
	case Postgres:
		return "postgres"
	case MySQL:
		return "mysql"
	case SQLite:
		return "sqlite"
	}
	return "unknown"
}

// dialectOf asks the database of a transaction what it is.
func dialectOf(ctx context.Context, tx Tx) (Dialect, error) {
	if known, ok := tx.(interface{ LockDialect() Dialect }); ok {
		return known.LockDialect(), nil
	}
	q, ok := tx.(rowTx)
	if !ok {
		return 0, errNoDialect
	}
	var version string
	err := q.QueryRowContext(ctx, "SELECT version()").Scan(&version)
	switch {
	case err != nil && strings.Contains(err.Error(), "no such function"):
		return SQLite, nil
	case err != nil:
		return 0, err
	case strings.HasPrefix(version, "PostgreSQL "):
		return Postgres, nil
	case version != "" && version[0] >= '0' && version[0] <= '9':
		return MySQL, nil
	}
	return 0, errNoDialect
}

var errNoDialect = errors.New("lock: the database is none that is known; set the Dialect")

// inTransaction refuses a pool: each of its statements commits by itself.
func inTransaction(tx Tx) error {
	_, pool := tx.(interface{ Stats() sql.DBStats }) // also where a library has embedded it
	if tx == nil || pool {
		return fmt.Errorf("lock: a %T is no transaction; pass the *sql.Tx that writes", tx)
	}
	return nil
}

// contended reports that a statement gave up waiting for a row or a lock.
func contended(d Dialect, err error) bool {
	switch d {
	case Postgres:
		return stateOf(err) == "55P03"
	case MySQL:
		return mysql.ClassOf(err) == mysql.Locked
	}
	return false
}

// stateOf is the SQLSTATE of an error, however the driver tells it.
func stateOf(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}
