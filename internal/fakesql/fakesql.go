// Package fakesql is a driver of database/sql that answers by a script instead of a
// database: for tests of what a real one does not do on demand.
package fakesql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"sync"
)

// Reply is what a statement gives. An integer in Rows is a row of one column.
type Reply struct {
	Affected int64
	Rows     []int64
	Err      error
}

// Database answers statements, and keeps them.
type Database struct {
	answer func(conn int, query string) Reply

	mu    sync.Mutex
	log   []string
	conns int
}

// New returns a database that answers with answer, which is told the connection's number,
// from 1 on. It is called by one goroutine at a time.
func New(answer func(conn int, query string) Reply) *Database { return &Database{answer: answer} }

// Open returns a pool on the database.
func (d *Database) Open() *sql.DB { return sql.OpenDB(d) }

// Log returns the statements so far, with BEGIN, COMMIT and ROLLBACK.
func (d *Database) Log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

func (d *Database) run(conn int, query string) Reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, query)
	return d.answer(conn, query)
}

// Connect is [driver.Connector]'s.
func (d *Database) Connect(context.Context) (driver.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns++
	return &conn{d, d.conns}, nil
}

// Driver is [driver.Connector]'s.
func (d *Database) Driver() driver.Driver { return nil }

type conn struct {
	d      *Database
	number int
}

func (c *conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("fakesql prepares nothing")
}
func (c *conn) Close() error { return nil }

func (c *conn) Begin() (driver.Tx, error) { return c, c.d.run(c.number, "BEGIN").Err }
func (c *conn) Commit() error             { return c.d.run(c.number, "COMMIT").Err }
func (c *conn) Rollback() error           { return c.d.run(c.number, "ROLLBACK").Err }

func (c *conn) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r := c.d.run(c.number, query)
	return driver.RowsAffected(r.Affected), r.Err
}

func (c *conn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r := c.d.run(c.number, query)
	if r.Err != nil {
		return nil, r.Err
	}
	return &rows{r.Rows}, nil
}

type rows struct{ left []int64 }

func (r *rows) Columns() []string { return []string{"n"} }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	dest[0], r.left = r.left[0], r.left[1:]
	return nil
}
