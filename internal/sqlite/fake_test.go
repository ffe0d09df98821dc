package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// fake is a driver that answers by a script instead of a database: for what a
// real SQLite does not do on demand.
type fake struct {
	mu    sync.Mutex
	log   []string // statements, without those of the set-up
	conns int
	// answer says what a statement gives; ok false leaves it to fit.
	answer func(conn int, query string) (r reply, ok bool)
}

type reply struct {
	row      []driver.Value // the one row, if there is one
	affected int64
	err      error
}

func (f *fake) Connect(context.Context) (driver.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns++
	return &fakeConn{fake: f, number: f.conns}, nil
}

func (f *fake) Driver() driver.Driver { return nil }

// run answers a statement.
func (f *fake) run(conn int, query string) reply {
	f.mu.Lock()
	if !strings.HasPrefix(query, "PRAGMA") {
		f.log = append(f.log, strings.Fields(query)[0])
	}
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		if r, ok := answer(conn, query); ok {
			return r
		}
	}
	return fit(query)
}

// fit is what a database in order answers: pragmas that were heeded, a schema that
// is up to date, and statements that change one row.
func fit(query string) reply {
	for prefix, row := range map[string][]driver.Value{
		"SELECT sqlite_version()": {"3.50.0"},
		"PRAGMA journal_mode":     {"wal"},
		"PRAGMA synchronous":      {int64(2)},
		"PRAGMA busy_timeout":     {int64(5000)},
		"SELECT count(*)":         {int64(1)},
		"SELECT max(version)":     {int64(1), int64(1)},
	} {
		if strings.HasPrefix(query, prefix) {
			return reply{row: row}
		}
	}
	return reply{affected: 1}
}

// took returns the statements since the last call.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log
	f.log = nil
	return log
}

// script replaces the answers.
func (f *fake) script(answer func(conn int, query string) (reply, bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// on answers the statements that begin with word.
func on(word string, r reply) func(int, string) (reply, bool) {
	return func(_ int, query string) (reply, bool) { return r, strings.HasPrefix(strings.TrimSpace(query), word) }
}

// gate holds a statement back until the test sends; the others are answered by
// next, nil for fit.
func (f *fake) gate(statement string, next func(int, string) (reply, bool)) chan struct{} {
	gate := make(chan struct{})
	f.script(func(conn int, query string) (reply, bool) {
		if query == statement {
			<-gate
		}
		if next == nil {
			return reply{}, false
		}
		return next(conn, query)
	})
	return gate
}

type fakeConn struct {
	fake   *fake
	number int
}

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) {
	return &fakeStmt{conn: c, query: query}, nil
}

func (c *fakeConn) Close() error { return nil }

func (c *fakeConn) Begin() (driver.Tx, error) { return nil, driver.ErrSkip }

type fakeStmt struct {
	conn  *fakeConn
	query string
}

func (s *fakeStmt) Close() error { return nil }

func (s *fakeStmt) NumInput() int { return -1 }

func (s *fakeStmt) Exec([]driver.Value) (driver.Result, error) {
	r := s.conn.fake.run(s.conn.number, s.query)
	return driver.RowsAffected(r.affected), r.err
}

func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	r := s.conn.fake.run(s.conn.number, s.query)
	if r.err != nil {
		return nil, r.err
	}
	return &fakeRows{row: r.row}, nil
}

type fakeRows struct {
	row  []driver.Value
	read bool
}

func (r *fakeRows) Columns() []string { return make([]string, len(r.row)) }

func (*fakeRows) Close() error { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if r.read || len(r.row) == 0 {
		return io.EOF
	}
	copy(dest, r.row)
	r.read = true
	return nil
}

// openFake opens a store on the fake.
func openFake(t *testing.T, f *fake, o Options) *Store {
	t.Helper()
	o.Prefix, o.Now = sqlrecord.DefaultPrefix, time.Now
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 5*time.Second)
	s, err := Open(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	f.took()
	return s
}
