package dup

import (
	"context"
	"database/sql"
	"testing"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/integration/internal/databases"
)

const insert = "INSERT INTO orders (id, number, email, customer) VALUES (?, ?, ?, ?)"

// create makes a table with three keys, a parent and limits.
func create(t *testing.T, db *databases.DB) {
	t.Helper()
	db.Must(t,
		"CREATE TABLE customer (id INT NOT NULL PRIMARY KEY)",
		"INSERT INTO customer VALUES (1)",
		`CREATE TABLE orders (
			id INT NOT NULL PRIMARY KEY, number VARCHAR(20) NOT NULL, email VARCHAR(40), customer INT,
			CONSTRAINT orders_number_key UNIQUE (number), CONSTRAINT orders_email_key UNIQUE (email),
			CONSTRAINT orders_customer_fk FOREIGN KEY (customer) REFERENCES customer (id),
			CHECK (length(number) <= 20))`)
}

// The constraints, as the engines name them.
var (
	primary  = []string{"orders_pkey", "PRIMARY", "orders.id"}
	number   = []string{"orders_number_key", "orders.number"}
	email    = []string{"orders_email_key", "orders.email"}
	customer = []string{"orders_customer_fk"}
)

// place is where a statement runs.
type place struct {
	name string
	// open returns a handle, what ends its transaction with a commit, and whether there
	// is one.
	open func(t *testing.T, db *databases.DB) (q dup.Querier, commit func() error)
	inTx bool
}

func places() []place {
	return []place{
		{name: "pool", open: func(_ *testing.T, db *databases.DB) (dup.Querier, func() error) { return db.DB, nothing }},
		{name: "connection", open: onConn(false)},
		{name: "transaction", open: inTx(sql.LevelDefault), inTx: true},
		{name: "repeatable read", open: inTx(sql.LevelRepeatableRead), inTx: true},
		{name: "transaction of a connection", open: onConn(true), inTx: true},
	}
}

func nothing() error { return nil }

func inTx(isolation sql.IsolationLevel) func(*testing.T, *databases.DB) (dup.Querier, func() error) {
	return func(t *testing.T, db *databases.DB) (dup.Querier, func() error) {
		t.Helper()
		tx := db.Begin(t, isolation)
		return tx, tx.Commit
	}
}

func onConn(begin bool) func(*testing.T, *databases.DB) (dup.Querier, func() error) {
	return func(t *testing.T, db *databases.DB) (dup.Querier, func() error) {
		t.Helper()
		conn, err := db.Conn(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if !begin {
			return conn, nothing
		}
		exec := func(statement string) error {
			_, err := conn.ExecContext(context.WithoutCancel(t.Context()), statement)
			return err
		}
		if err := exec("BEGIN"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = exec("ROLLBACK") }) // it has ended, in most tests
		return conn, func() error { return exec("COMMIT") }
	}
}

// everywhere runs a test on all engines, in all places, each with the tables.
func everywhere(t *testing.T, run func(t *testing.T, db *databases.DB, p place)) {
	t.Helper()
	databases.Each(t, func(t *testing.T, db *databases.DB) {
		for _, p := range places() {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				db := db.Engine.Open(t)
				create(t, db)
				run(t, db, p)
			})
		}
	})
}

// rows counts the orders.
func rows(t *testing.T, db *databases.DB) int64 {
	t.Helper()
	return db.Number(t, "SELECT COUNT(*) FROM orders")
}
