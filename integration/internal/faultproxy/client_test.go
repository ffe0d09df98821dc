package faultproxy

import (
	"context"
	"crypto/rand"
	"database/sql"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/engines"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
)

// client is a driver in one of its ways to send statements.
type client struct {
	proxy   *Proxy
	db      *sql.DB // through the proxy
	direct  *sql.DB // beside it
	dsn     string  // of db
	table   string
	insert  string // with a parameter
	mysql   bool
	resends bool // after an end of file
}

// each runs a test with all drivers: with simple queries, prepared statements, and
// statements that are prepared and executed in one go.
func each(t *testing.T, test func(t *testing.T, c *client)) {
	t.Parallel()
	postgres, mariadb := engines.Postgres(t).Database(t), engines.MariaDB(t).Database(t)
	for _, way := range []struct{ name, driver, dsn, parameters string }{
		{"pgx prepared", "pgx", postgres, "&default_query_exec_mode=cache_statement"},
		{"pgx in one go", "pgx", postgres, "&default_query_exec_mode=exec"},
		{"pgx simple", "pgx", postgres, "&default_query_exec_mode=simple_protocol"},
		{"pq prepared", "postgres", postgres, "&binary_parameters=no"},
		{"pq in one go", "postgres", postgres, "&binary_parameters=yes"},
		{"mysql prepared", "mysql", mariadb, "?interpolateParams=false"},
		{"mysql simple", "mysql", mariadb, "?interpolateParams=true"},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			test(t, connect(t, way.driver, way.dsn, way.parameters))
		})
	}
}

// connect gives the test a table of its own.
func connect(t *testing.T, driver, dsn, parameters string) *client {
	t.Helper()
	c := &client{table: "t_" + rand.Text(), mysql: driver == "mysql", resends: driver == "postgres"}
	if c.mysql {
		c.proxy, c.insert = MySQL(t, engines.MariaDB(t).Addr()), "INSERT INTO "+c.table+" VALUES (?)"
	} else {
		c.proxy, c.insert = Postgres(t, engines.Postgres(t).Addr()), "INSERT INTO "+c.table+" VALUES ($1)"
	}
	c.dsn = engines.Through(dsn, c.proxy.Addr()) + parameters
	c.db, c.direct = open(t, driver, c.dsn), open(t, driver, dsn)
	if _, err := c.direct.Exec("CREATE TABLE " + c.table + " (n int)"); err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// begin inserts a row in a transaction, and returns the function that commits.
func (c *client) begin(t *testing.T, n int) (commit func() error) {
	t.Helper()
	tx, err := c.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(c.insert, n); err != nil {
		t.Fatal(err)
	}
	return tx.Commit
}

// inserting inserts a row, in the background.
func (c *client) inserting(n int) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.db.Exec(c.insert, n)
		done <- err
	}()
	return done
}

// rows counts those that are committed.
func (c *client) rows(t *testing.T) (n int) {
	t.Helper()
	if err := c.direct.QueryRow("SELECT count(*) FROM " + c.table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// appears waits for the first row.
func (c *client) appears(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for c.rows(t) == 0 {
		if ctx.Err() != nil {
			t.Fatal("the statement was not executed")
		}
	}
}

// hangUp resets all clients' connections, as a firewall does.
func (c *client) hangUp() {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	for l := range c.proxy.links {
		l.resetClient()
	}
}
