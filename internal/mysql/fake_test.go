package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a driver that answers by a script instead of a server: for what a real one
// does not do on demand.
type fake struct {
	version string // empty: MariaDB
	mu      sync.Mutex
	log     []string       // statements since the store is open
	args    []driver.Value // of the last one that changed something
	// answer says what a statement gives; ok false leaves it to fit.
	answer func(query string) (r reply, ok bool)
}

type reply struct {
	rows     [][]driver.Value
	affected int64
	id       int64
	err      error
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return &fakeConn{fake: f}, nil }

func (f *fake) Driver() driver.Driver { return nil }

func (f *fake) run(query string) reply {
	f.mu.Lock()
	f.log = append(f.log, query)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		if r, ok := answer(query); ok {
			return r
		}
	}
	return f.fit(query)
}

const fakeNow = 1_700_000_000_000_000

// fit is what a server in order answers: its settings, a schema that is up to date,
// and statements that do what they are to do.
func (f *fake) fit(query string) reply {
	switch {
	case strings.HasPrefix(query, "SHOW VARIABLES"):
		return reply{rows: [][]driver.Value{
			{"version", cmp.Or(f.version, "10.11.6-MariaDB")}, {"innodb_lock_wait_timeout", "50"}, {"autocommit", "ON"}, {"max_allowed_packet", "16777216"}, {"tx_isolation", "REPEATABLE-READ"},
		}}
	case strings.HasPrefix(query, "SELECT MAX(version)"):
		return reply{rows: [][]driver.Value{{int64(1), int64(1)}}}
	case strings.HasPrefix(query, "SELECT engine"):
		return reply{rows: [][]driver.Value{{"InnoDB"}}}
	case strings.HasPrefix(query, "SELECT fence"):
		return reply{rows: [][]driver.Value{{int64(0)}}}
	case strings.Contains(query, "semel_floor"):
		return reply{id: fakeNow}
	}
	return reply{affected: int64(max(1, strings.Count(query, "(LAST_INSERT_ID("))), id: fakeNow}
}

// took returns the first words of the statements since the last call.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	words := make([]string, 0, len(f.log))
	for _, query := range f.log {
		_, bounded, ok := strings.Cut(query, " FOR ")
		if ok && strings.HasPrefix(query, "SET STATEMENT") {
			query = bounded
		}
		words = append(words, strings.Fields(query)[0])
	}
	f.log = nil
	return words
}

// last is the newest statement with this in it.
func (f *fake) last(part string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, query := range slices.Backward(f.log) {
		if strings.Contains(query, part) {
			return query
		}
	}
	return ""
}

// script replaces the answers.
func (f *fake) script(answer func(query string) (reply, bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

type fakeConn struct{ fake *fake }

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) {
	return &fakeStmt{fake: c.fake, query: query}, nil
}

func (c *fakeConn) Close() error { return nil }

func (c *fakeConn) Begin() (driver.Tx, error) { return fakeTx{c.fake}, nil }

type fakeTx struct{ fake *fake }

func (t fakeTx) Commit() error { return t.fake.run("COMMIT").err }

func (t fakeTx) Rollback() error { return t.fake.run("ROLLBACK").err }

type fakeStmt struct {
	fake  *fake
	query string
}

func (s *fakeStmt) Close() error { return nil }

func (s *fakeStmt) NumInput() int { return -1 }

func (s *fakeStmt) Exec(args []driver.Value) (driver.Result, error) {
	r := s.fake.run(s.query)
	s.fake.mu.Lock()
	s.fake.args = args
	s.fake.mu.Unlock()
	return fakeResult(r), r.err
}

func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	r := s.fake.run(s.query)
	if r.err != nil {
		return nil, r.err
	}
	return &fakeRows{rows: r.rows}, nil
}

type fakeResult reply

func (r fakeResult) RowsAffected() (int64, error) { return r.affected, nil }

func (r fakeResult) LastInsertId() (int64, error) { return r.id, nil }

type fakeRows struct{ rows [][]driver.Value }

func (r *fakeRows) Columns() []string {
	if len(r.rows) == 0 {
		return nil
	}
	return make([]string, len(r.rows[0]))
}

func (*fakeRows) Close() error { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// openFake opens a store on the fake.
func openFake(t *testing.T, f *fake) *Store {
	t.Helper()
	db := sql.OpenDB(f)
	s, err := New(t.Context(), db, Options{Prefix: "semel_", MaxBatch: 512, Timeout: 5 * time.Second, Direct: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	f.took()
	return s
}
