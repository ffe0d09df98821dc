package inbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/sqlstore"
	"modernc.org/sqlite"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
)

// world is an engine with a driver.
type world struct {
	name string
	// open returns a fixture with a database of its own and this many connections, where
	// there is no server.
	open func(t *testing.T, conns int) *fixture
	// dsn makes a database and tells its server's address too; on opens it.
	dsn   func(t *testing.T) (dsn, addr string)
	on    func(t *testing.T, dsn string, conns int) *fixture
	proxy func(t testing.TB, addr string) *faultproxy.Proxy
	// oneWriter: a transaction keeps all others out, whatever their keys.
	oneWriter bool
	// aborts: a statement that failed leaves its transaction of no use.
	aborts bool
}

func worlds() []world {
	return append(servers(), world{name: "sqlite", open: openSQLite, oneWriter: true})
}

// servers are the worlds with a network between.
func servers() []world {
	return []world{
		{name: "mariadb", dsn: mariaDBDSN, on: mariaDBFixture, proxy: faultproxy.MySQL},
		{name: "postgres-pgx", dsn: postgresDSN, on: postgresFixture("pgx"), proxy: faultproxy.Postgres, aborts: true},
		{name: "postgres-pq", dsn: postgresDSN, on: postgresFixture("postgres"), proxy: faultproxy.Postgres, aborts: true},
		{name: "pgxpool", dsn: postgresDSN, on: poolFixture, proxy: faultproxy.Postgres, aborts: true},
	}
}

// fixture is a database with the tables of the bank and of a store.
type fixture struct {
	bank
	world world
	store semel.Store
	box   func(t *testing.T, opts *inbox.Options) box
}

// values counts the done records that have a value.
func (f *fixture) values(t *testing.T) int {
	t.Helper()
	return f.number(t, "SELECT COUNT(*) FROM semel_record WHERE state = 3 AND result_kind = 1")
}

// read returns the record of an operation.
func (f *fixture) read(t *testing.T, op semel.Op) semel.Record {
	t.Helper()
	rec, err := f.store.Read(context.WithoutCancel(t.Context()), semel.ReadParams{Key: op.Key.ID()})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// rule is one thing that must hold in every world.
type rule struct {
	name string
	run  func(t *testing.T, f *fixture)
	// conns are the connections of the pool; 0 means 16.
	conns int
	// free: the business tables are not as the rule of one effect per value wants them.
	free bool
}

// everywhere runs rules in all worlds.
func everywhere(t *testing.T, rules []rule) {
	t.Helper()
	within(t, worlds(), rules)
}

// within runs rules in some worlds.
func within(t *testing.T, worlds []world, rules []rule) {
	t.Helper()
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range rules {
				t.Run(r.name, func(t *testing.T) {
					t.Parallel()
					f := w.fixture(t, cmp.Or(r.conns, 16))
					r.run(t, f)
					if !r.free {
						f.check(t, f)
					}
				})
			}
		})
	}
}

func (w world) fixture(t *testing.T, conns int) *fixture {
	t.Helper()
	if w.open != nil {
		f := w.open(t, conns)
		f.world = w
		return f
	}
	dsn, _ := w.dsn(t)
	f := w.on(t, dsn, conns)
	f.world = w
	return f
}

// behindProxy is a fixture whose connections can be broken.
func (w world) behindProxy(t *testing.T) (*fixture, *faultproxy.Proxy) {
	t.Helper()
	dsn, addr := w.dsn(t)
	proxy := w.proxy(t, addr)
	f := w.on(t, engines.Through(dsn, proxy.Addr()), 16)
	f.world = w
	return f, proxy
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func openSQLite(t *testing.T, conns int) *fixture {
	t.Helper()
	connector, err := sqlstore.Connector(&sqlite.Driver{}, filepath.Join(t.TempDir(), "bank.db"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.OpenSQLite(t.Context(), connector, nil)
	if err != nil {
		t.Fatal(err)
	}
	store.DB().SetMaxOpenConns(conns)
	return sqlFixture(t, store)
}

func mariaDBDSN(t *testing.T) (dsn, addr string) {
	t.Helper()
	server := engines.MariaDB(t)
	return server.Database(t), server.Addr()
}

func mariaDBFixture(t *testing.T, dsn string, conns int) *fixture {
	t.Helper()
	store, err := sqlstore.NewMySQL(t.Context(), openSQL(t, "mysql", dsn, conns), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sqlFixture(t, store)
}

func postgresFixture(driver string) func(t *testing.T, dsn string, conns int) *fixture {
	return func(t *testing.T, dsn string, conns int) *fixture {
		t.Helper()
		store, err := sqlstore.NewPostgres(t.Context(), openSQL(t, driver, dsn, conns), nil)
		if err != nil {
			t.Fatal(err)
		}
		return sqlFixture(t, store)
	}
}

// schemas numbers the schemas of the shared server. A schema is much quicker made
// than a database, and is a database of its own to those who see no other.
var schemas atomic.Int64

func postgresDSN(t *testing.T) (dsn, addr string) {
	t.Helper()
	name := fmt.Sprintf("inbox_%d", schemas.Add(1))
	server := engines.Postgres(t)
	url := server.URL()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return url + "&search_path=" + name + "&deadlock_timeout=20ms", server.Addr() // 1s is the default
}

func openSQL(t *testing.T, driver, dsn string, conns int) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db
}

// sqlFixture makes the fixture of a store of package sqlstore.
func sqlFixture(t *testing.T, store *sqlstore.Store) *fixture {
	t.Helper()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{bank: bank{store.DB()}, store: store}
	f.box = func(t *testing.T, opts *inbox.Options) box {
		t.Helper()
		b, err := inbox.New(store, opts)
		if err != nil {
			t.Fatal(err)
		}
		return sqlBox{b}
	}
	f.create(t)
	return f
}
