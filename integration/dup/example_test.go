package dup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/semel-go/semel/dup"
)

// shop is a database with customers and orders.
func shop() (db *sql.DB, end func() error, err error) {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		return nil, nil, err
	}
	db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db")+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, nil, err
	}
	for _, statement := range []string{
		"CREATE TABLE customer (id INT NOT NULL PRIMARY KEY, points INT NOT NULL)",
		"CREATE TABLE orders (number TEXT NOT NULL UNIQUE, customer INT NOT NULL REFERENCES customer (id), total INT NOT NULL)",
		"INSERT INTO customer VALUES (1, 0)",
	} {
		_, failure := db.Exec(statement)
		err = errors.Join(err, failure)
	}
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }, err
}

// accept books points for an order once, however often it is delivered: the order's
// unique number and the points are committed together.
func accept(ctx context.Context, db *sql.DB, number string, customer, total int) (accepted bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	inserted, err := dup.On("orders_number_key", "orders.number").Insert(ctx, tx,
		"INSERT INTO orders (number, customer, total) VALUES (?, ?, ?)", number, customer, total)
	if err != nil || !inserted {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE customer SET points = points + ? WHERE id = ?", total, customer); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

func Example_insert() {
	db, end, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	ctx := context.Background()
	for range 2 {
		fmt.Println(accept(ctx, db, "A-1", 1, 30))
	}
	_, err = accept(ctx, db, "A-2", 99, 30)
	fmt.Println("no such customer:", err != nil, "a duplicate:", dup.Is(err))
	// Output:
	// true <nil>
	// false <nil>
	// no such customer: true a duplicate: false
}

func Example_insertOrGet() {
	db, end, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	ctx := context.Background()
	for _, total := range []int{30, 40} {
		stored, inserted, err := dup.InsertOrGet(ctx, db, dup.Statements{
			Insert: "INSERT INTO orders (number, customer, total) VALUES (?, ?, ?)", InsertArgs: []any{"A-1", 1, total},
			Select: "SELECT total FROM orders WHERE number = ?", SelectArgs: []any{"A-1"},
		}, func(row dup.Row) (total int, err error) {
			return total, row.Scan(&total)
		})
		fmt.Println(stored, inserted, err)
	}
	// Output:
	// 30 true <nil>
	// 30 false <nil>
}
