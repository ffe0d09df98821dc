// Package databases opens empty SQL databases for tests of code that is the user's
// own: each engine with each of its drivers for database/sql.
package databases

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"

	_ "github.com/go-sql-driver/mysql" // drivers
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"
)

// Dialect is what statements are written for.
type Dialect string

// The dialects.
const (
	Postgres Dialect = "PostgreSQL"
	MariaDB  Dialect = "MariaDB"
	SQLite   Dialect = "SQLite"
)

// Engine is an engine with a driver.
type Engine struct {
	Name    string // of engine and driver
	Dialect Dialect
	// Resends: the driver has database/sql send a statement again whose reply was lost.
	Resends bool

	driver string
}

// All are the engines, each with all of its drivers.
func All() []Engine {
	return append(Servers(), Engine{Name: "SQLite", Dialect: SQLite, driver: "sqlite"})
}

// Servers are those with a network between.
func Servers() []Engine {
	return []Engine{
		{Name: "PostgreSQL, pgx", Dialect: Postgres, driver: "pgx"},
		{Name: "PostgreSQL, pq", Dialect: Postgres, driver: "postgres", Resends: true},
		{Name: "MariaDB", Dialect: MariaDB, driver: "mysql"},
	}
}

// Each runs a test on all engines, in parallel, each with an empty database.
func Each(t *testing.T, run func(t *testing.T, db *DB)) {
	t.Helper()
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			run(t, e.Open(t))
		})
	}
}

// DB is a database of a test. It is closed at its end.
type DB struct {
	*sql.DB
	Engine Engine
	DSN    string
	addr   string
}

// Conns is the limit of each pool.
const Conns = 40

// Open makes an empty database.
func (e Engine) Open(t testing.TB) *DB {
	t.Helper()
	d := &DB{Engine: e}
	switch e.Dialect {
	case Postgres:
		d.DSN, d.addr = schema(t), engines.Postgres(t).Addr()
	case MariaDB:
		server := engines.MariaDB(t)
		d.DSN, d.addr = server.Database(t), server.Addr()
	case SQLite:
		d.DSN = "file:" + filepath.Join(t.TempDir(), "rows.db") + "?_pragma=busy_timeout(20000)&_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)"
	}
	d.DB = d.connect(t, d.DSN)
	return d
}

// connect opens a pool.
func (d *DB) connect(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Engine.driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(Conns)
	db.SetMaxIdleConns(Conns)
	return db
}

// BehindProxy is another pool on the database, whose connections can be broken.
func (d *DB) BehindProxy(t testing.TB) (*sql.DB, *faultproxy.Proxy) {
	t.Helper()
	start := faultproxy.MySQL
	if d.Engine.Dialect == Postgres {
		start = faultproxy.Postgres
	}
	proxy := start(t, d.addr)
	return d.connect(t, engines.Through(d.DSN, proxy.Addr())), proxy
}

// schemas numbers the schemas of the shared server. A schema is much quicker made
// than a database, and is a database of its own to those who see no other.
var schemas atomic.Int64

func schema(t testing.TB) (dsn string) {
	t.Helper()
	name := fmt.Sprintf("rows_%d", schemas.Add(1))
	url := engines.Postgres(t).URL()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return url + "&search_path=" + name + "&deadlock_timeout=20ms" // 1s is the default
}

// Text is a statement with ? for its arguments, as the dialect wants it.
func (d *DB) Text(statement string) string {
	if d.Engine.Dialect != Postgres {
		return statement
	}
	text, n := "", 0
	for _, r := range statement {
		if r != '?' {
			text += string(r)
			continue
		}
		n++
		text += fmt.Sprintf("$%d", n)
	}
	return text
}

// Must executes statements.
func (d *DB) Must(t testing.TB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := d.ExecContext(context.WithoutCancel(t.Context()), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Number is the one number that a query returns.
func (d *DB) Number(t testing.TB, query string, args ...any) (n int64) {
	t.Helper()
	if err := d.QueryRowContext(context.WithoutCancel(t.Context()), d.Text(query), args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Isolation are the options of a transaction; SQLite has one level, and takes no other.
func (d *DB) Isolation(level sql.IsolationLevel) *sql.TxOptions {
	if d.Engine.Dialect == SQLite {
		level = sql.LevelDefault
	}
	return &sql.TxOptions{Isolation: level}
}

// Begin begins a transaction, which is rolled back at the end of the test if it has not
// ended by then.
func (d *DB) Begin(t testing.TB, isolation sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := d.BeginTx(context.WithoutCancel(t.Context()), d.Isolation(isolation))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}
