package lock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/pgxstore"
)

// database is what is guarded.
type database struct {
	*sql.DB
	dialect lock.Dialect
	// begin opens a transaction; of pgx if there is a pool.
	begin func(t *testing.T, level sql.IsolationLevel) *transaction
}

// transaction is one of any driver.
type transaction struct {
	lock.Tx
	t      *testing.T
	number func(query string) (int, error)
	end    func(commit bool) error
}

// exec runs a statement that has to succeed.
func (tx *transaction) exec(query string) {
	tx.t.Helper()
	if _, err := tx.ExecContext(tx.t.Context(), query); err != nil {
		tx.t.Fatalf("%s: %v", query, err)
	}
}

func (tx *transaction) finish(commit bool) {
	tx.t.Helper()
	if err := tx.end(commit); err != nil {
		tx.t.Fatal(err)
	}
}

// driver is a way to reach a database.
type driver struct {
	name    string
	dialect lock.Dialect
	open    func(t *testing.T) *database
}

func drivers() []driver {
	postgres := func(name string, through func(t *testing.T, dsn string) string) func(t *testing.T) *database {
		return func(t *testing.T) *database {
			return onSQL(t, lock.Postgres, name, through(t, engines.Postgres(t).Database(t)))
		}
	}
	mariadb := func(parameter string) func(t *testing.T) *database {
		return func(t *testing.T) *database {
			return onSQL(t, lock.MySQL, "mysql", withParameter(engines.MariaDB(t).Database(t), parameter))
		}
	}
	direct := func(_ *testing.T, dsn string) string { return dsn }
	return []driver{
		{"pgx", lock.Postgres, postgres("pgx", direct)},
		{"lib/pq", lock.Postgres, postgres("postgres", direct)},
		{"pgx, PgBouncer", lock.Postgres, postgres("pgx", throughBouncer)},
		{"pgxpool", lock.Postgres, onPool},
		{"mariadb", lock.MySQL, mariadb("clientFoundRows=false")},
		{"mariadb, found rows", lock.MySQL, mariadb("clientFoundRows=true")},
		{"mariadb, snapshot isolation", lock.MySQL, mariadb("innodb_snapshot_isolation=ON")}, // the default from 11.6.2 on
		{"sqlite", lock.SQLite, onSQLite},
	}
}

// throughBouncer goes through a pooler in transaction mode.
func throughBouncer(t *testing.T, dsn string) string {
	t.Helper()
	return engines.Through(dsn, engines.Postgres(t).Bouncer(t).Addr()) + "&default_query_exec_mode=exec"
}

func withParameter(dsn, parameter string) string {
	if strings.Contains(dsn, "?") {
		return dsn + "&" + parameter
	}
	return dsn + "?" + parameter
}

// on runs a test on the databases of some dialects.
func on(t *testing.T, test func(t *testing.T, db *database), dialects ...lock.Dialect) {
	t.Helper()
	t.Parallel()
	for _, d := range drivers() {
		if !slices.Contains(dialects, d.dialect) {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			test(t, d.open(t))
		})
	}
}

func onSQL(t *testing.T, dialect lock.Dialect, driver, dsn string) *database {
	t.Helper()
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return wrap(pool, dialect)
}

func wrap(pool *sql.DB, dialect lock.Dialect) *database {
	return &database{DB: pool, dialect: dialect, begin: func(t *testing.T, level sql.IsolationLevel) *transaction {
		t.Helper()
		tx, err := pool.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() }) // if the test has failed
		return &transaction{Tx: tx, t: t, number: func(query string) (n int, err error) {
			err = tx.QueryRowContext(t.Context(), query).Scan(&n)
			return n, err
		}, end: func(commit bool) error {
			if commit {
				return tx.Commit()
			}
			return tx.Rollback()
		}}
	}}
}

func onSQLite(t *testing.T) *database {
	t.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "guarded.db")+"?_pragma=busy_timeout(20000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return wrap(pool, lock.SQLite)
}

// onPool is a pool of pgx; what is not in a transaction goes through database/sql.
func onPool(t *testing.T) *database {
	t.Helper()
	dsn := engines.Postgres(t).Database(t)
	db := onSQL(t, lock.Postgres, "pgx", dsn)
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db.begin = func(t *testing.T, level sql.IsolationLevel) *transaction {
		t.Helper()
		o := pgx.TxOptions{}
		if level == sql.LevelRepeatableRead {
			o.IsoLevel = pgx.RepeatableRead
		}
		tx, err := pool.BeginTx(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // if the test has failed
		return &transaction{Tx: pgxstore.LockTx(tx), t: t, number: func(query string) (n int, err error) {
			err = tx.QueryRow(t.Context(), query).Scan(&n)
			return n, err
		}, end: func(commit bool) error {
			if commit {
				return tx.Commit(context.Background())
			}
			return tx.Rollback(context.Background())
		}}
	}
	return db
}

// guard runs one guarded transaction, and commits if the fence passes.
func (db *database) guard(t *testing.T, resource string, fence semel.Fence) error {
	t.Helper()
	tx := db.begin(t, sql.LevelDefault)
	err := lock.Guard(t.Context(), tx.bare(), resource, fence)
	tx.finish(err == nil)
	return err
}

// bare is the transaction as its driver has it.
func (tx *transaction) bare() lock.Tx { return tx.Tx }

func isFenced(err error) bool {
	_, ok := errors.AsType[*lock.FencedError](err)
	return ok && errors.Is(err, semel.ErrFenced)
}

var all = []lock.Dialect{lock.Postgres, lock.MySQL, lock.SQLite}

// Larger and equal fences pass, smaller ones do not; one that was rolled back does not
// count; resources do not meet.
func TestGuard(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		if err := db.guard(t, "a", 5); err == nil || !strings.Contains(err.Error(), "Fences.Create") {
			t.Fatalf("without a table: %v", err)
		}
		for range 2 {
			if err := (lock.Fences{}).Create(t.Context(), db.DB); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range []struct {
			resource string
			fence    semel.Fence
			fenced   bool
		}{
			{"a", 5, false}, {"a", 5, false}, {"a", 4, true}, {"A", 1, false}, {"a", 6, false}, {"a", 5, true}, {"a", 6, false},
			{"a", 1 << 62, false}, {"a", 6, true}, {"ä' OR 1=1 --", 1, false}, {"A", 1, false},
		} {
			if err := db.guard(t, c.resource, c.fence); isFenced(err) != c.fenced || !c.fenced && err != nil {
				t.Errorf("%d: fence %d at %q: %v", i, c.fence, c.resource, err)
			}
		}
		tx := db.begin(t, sql.LevelDefault)
		if err := lock.Guard(t.Context(), tx.bare(), "b", 9); err != nil {
			t.Error(err)
		}
		tx.finish(false)
		if err := db.guard(t, "b", 8); err != nil {
			t.Errorf("a fence that was rolled back counts: %v", err)
		}
	}, all...)
}

// pool is what libraries make of a *sql.DB.
type pool struct{ *sql.DB }

// Conn is one of the library's own.
func (pool) Conn() {}

// What is refused never reaches the database.
func TestGuardIsCareful(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		tx := db.begin(t, sql.LevelDefault)
		for fix, err := range map[string]error{
			"*sql.Tx that writes": lock.Guard(t.Context(), db.DB, "a", 1),
			"is no transaction":   lock.Guard(t.Context(), nil, "a", 1),
			"pool is no":          lock.Guard(t.Context(), pool{db.DB}, "a", 1),
			"Held.Fence":          lock.Guard(t.Context(), tx.bare(), "a", 0),
			"has no name":         lock.Guard(t.Context(), tx.bare(), "", 1),
			"plain identifier":    lock.Fences{Table: "x; DROP TABLE y"}.Guard(t.Context(), tx.bare(), "a", 1),
		} {
			if err == nil || !strings.Contains(err.Error(), fix) {
				t.Errorf("the error %q does not say %q", err, fix)
			}
		}
		if n, err := tx.number("SELECT 1"); n != 1 || err != nil {
			t.Errorf("the transaction is of no use afterwards: %v", err)
		}
		tx.finish(false)
		f := lock.Fences{Dialect: db.dialect, Table: "my_fences"}
		if err := f.Create(t.Context(), db.DB); err != nil {
			t.Fatal(err)
		}
		tx = db.begin(t, sql.LevelDefault)
		if err := f.Guard(t.Context(), tx.bare(), "a", 1); err != nil {
			t.Error(err)
		}
		tx.finish(true)
	}, all...)
}

// Processes that start at once all make the table. Field fault: PostgreSQL's IF NOT EXISTS
// fails all but one of them.
func TestCreateAtOnce(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		db.SetMaxOpenConns(32)
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				if err := (lock.Fences{Table: fmt.Sprintf("fences_%d", i/16)}).Create(t.Context(), db.DB); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}, all...)
}

// Two transactions with neighbouring fences: the second waits for the first, and then
// finds what that has committed.
func TestGuardsOfOneResourceGoOneByOne(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		if err := (lock.Fences{}).Create(t.Context(), db.DB); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name          string
			first, second semel.Fence
			commit        bool
			fenced        bool
		}{
			{"rising", 5, 6, true, false}, {"falling", 6, 5, true, true}, {"falling, rolled back", 6, 5, false, false},
		} {
			first, second := db.begin(t, sql.LevelDefault), db.begin(t, sql.LevelDefault)
			if err := lock.Guard(t.Context(), first.bare(), c.name, c.first); err != nil {
				t.Fatal(err)
			}
			answer := make(chan error, 1)
			go func() { answer <- lock.Guard(t.Context(), second.bare(), c.name, c.second) }()
			select {
			case err := <-answer:
				t.Fatalf("%s: the second did not wait: %v", c.name, err)
			case <-time.After(100 * time.Millisecond):
			}
			first.finish(c.commit)
			if err := <-answer; isFenced(err) != c.fenced || !c.fenced && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			second.finish(!c.fenced)
		}
	}, lock.Postgres, lock.MySQL) // SQLite has one writer, so that there is no second one
}

// REPEATABLE READ: PostgreSQL refuses with a serialization failure, MariaDB looks past the
// snapshot. A stale fence never passes.
func TestGuardUnderRepeatableRead(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		if err := (lock.Fences{}).Create(t.Context(), db.DB); err != nil {
			t.Fatal(err)
		}
		if err := db.guard(t, "a", 4); err != nil {
			t.Fatal(err)
		}
		for _, resource := range []string{"a", "new"} {
			late := db.begin(t, sql.LevelRepeatableRead)
			if _, err := late.number("SELECT COUNT(*) FROM semel_fence"); err != nil { // its snapshot
				t.Fatal(err)
			}
			if err := db.guard(t, resource, 6); err != nil {
				t.Fatal(err)
			}
			err := lock.Guard(t.Context(), late.bare(), resource, 5)
			if anew := db.beginsAnew(t); dup.Retryable(err) != anew || isFenced(err) == anew {
				t.Errorf("%s: %v; want a serialization failure: %v", resource, err, anew)
			}
			late.finish(false)
			if err := db.guard(t, resource, 5); !isFenced(err) {
				t.Errorf("%s: again in a new transaction: %v", resource, err)
			}
		}
	}, lock.Postgres, lock.MySQL)
}

// beginsAnew reports that a transaction cannot write what was changed since its snapshot.
func (db *database) beginsAnew(t *testing.T) (anew bool) {
	t.Helper()
	if db.dialect == lock.Postgres {
		return true
	}
	if err := db.QueryRowContext(t.Context(), "SELECT @@SESSION.innodb_snapshot_isolation").Scan(&anew); err != nil {
		t.Fatal(err)
	}
	return anew
}

// Many first guards of many resources at once: no deadlock, and none passes after a
// larger one.
func TestGuardsUnderLoad(t *testing.T) {
	on(t, func(t *testing.T, db *database) {
		if err := (lock.Fences{}).Create(t.Context(), db.DB); err != nil {
			t.Fatal(err)
		}
		const callers = 8
		var under sync.WaitGroup
		for i := range callers {
			under.Go(func() {
				for n := range 25 {
					if err := db.guard(t, fmt.Sprint("r", n), semel.Fence(i+1)); err != nil && !isFenced(err) {
						t.Error(err)
					}
				}
			})
		}
		under.Wait()
		for n := range 25 {
			if err := db.guard(t, fmt.Sprint("r", n), callers-1); !isFenced(err) {
				t.Errorf("after %d fences the one before the largest: %v", callers, err)
			}
		}
	}, all...)
}

// A role needs three rights to guard, and none to make tables.
func TestRightsToGuard(t *testing.T) {
	t.Parallel()
	db := onSQL(t, lock.Postgres, "pgx", engines.Postgres(t).Database(t))
	if err := (lock.Fences{}).Create(t.Context(), db.DB); err != nil {
		t.Fatal(err)
	}
	tx := db.begin(t, sql.LevelDefault)
	tx.exec("CREATE ROLE guard_of_fences; GRANT SELECT, INSERT, UPDATE ON semel_fence TO guard_of_fences; SET LOCAL ROLE guard_of_fences")
	for fence, fenced := range map[semel.Fence]bool{2: false, 1: true} {
		if err := lock.Guard(t.Context(), tx.bare(), fmt.Sprint("r", fence), 2); err != nil {
			t.Error(err)
		}
		if err := lock.Guard(t.Context(), tx.bare(), fmt.Sprint("r", fence), fence); isFenced(err) != fenced || !fenced && err != nil {
			t.Errorf("fence %d: %v", fence, err)
		}
	}
	tx.finish(false) // the role too
}
