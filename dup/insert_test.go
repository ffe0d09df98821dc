package dup

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel/internal/fakesql"
)

const statement = "INSERT INTO t VALUES (1)"

// script answers each statement by its first word, in turns; the last answer stays.
type script map[string][]fakesql.Reply

func (s script) open(t *testing.T) (*sql.DB, *fakesql.Database) {
	t.Helper()
	fake := fakesql.New(func(_ int, query string) fakesql.Reply {
		replies := s[strings.Fields(query)[0]]
		if len(replies) == 0 {
			return fakesql.Reply{}
		}
		if len(replies) > 1 {
			s[strings.Fields(query)[0]] = replies[1:]
		}
		return replies[0]
	})
	db := fake.Open()
	t.Cleanup(func() { db.Close() })
	return db, fake
}

var (
	duplicate = fakesql.Reply{Err: &pgxError{"23505", "t", "t_key"}}
	inserted  = fakesql.Reply{Affected: 1}
	none      = fakesql.Reply{}
	deadlock  = fakesql.Reply{Err: server(1213, "Deadlock found")}
	bad       = fakesql.Reply{Err: driver.ErrBadConn}
	foreign   = fakesql.Reply{Err: &pgxError{"23503", "t", "t_fk"}}
	noTx      = fakesql.Reply{Err: &pgxError{Code: "25P01"}}
	unknown   = fakesql.Reply{Err: server(1305, "SAVEPOINT semel_dup does not exist")}
)

func TestInsertOnAPool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		replies []fakesql.Reply
		want    bool
		err     error
		sent    int
	}{
		{"inserted", []fakesql.Reply{inserted}, true, nil, 1},
		{"duplicate", []fakesql.Reply{duplicate}, false, nil, 1},
		{"foreign key", []fakesql.Reply{foreign}, false, foreign.Err, 1},
		{"a trigger took it", []fakesql.Reply{none}, false, ErrNoRow, 1},
		{"undone in favour of another one", []fakesql.Reply{deadlock, deadlock, duplicate}, false, nil, 3},
		{"undone again and again", []fakesql.Reply{deadlock}, false, deadlock.Err, beatings},
		{"sent twice, inserted", []fakesql.Reply{bad, inserted}, true, nil, 2},
		{"sent twice, there", []fakesql.Reply{bad, duplicate}, false, ErrNoReply, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, fake := script{"INSERT": c.replies}.open(t)
			got, err := Insert(t.Context(), db, statement)
			if got != c.want || !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
				t.Errorf("%v, %v; want %v, %v", got, err, c.want, c.err)
			}
			if n := len(fake.Log()); n != c.sent {
				t.Errorf("%d statements, want %d: %q", n, c.sent, fake.Log())
			}
		})
	}
}

// What is sent in a transaction, and what comes of it.
func TestInsertInATransaction(t *testing.T) {
	t.Parallel()
	const set, release, back = "SAVEPOINT", "RELEASE", "ROLLBACK TO"
	broken := errors.New("connection lost")
	for _, c := range []struct {
		name   string
		script script
		conn   bool // a connection instead of a transaction
		want   bool
		err    error
		sent   []string
	}{
		{name: "inserted", script: script{"INSERT": {inserted}}, want: true, sent: []string{set, "INSERT", release}},
		{name: "duplicate", script: script{"INSERT": {duplicate}}, sent: []string{set, "INSERT", back, release}},
		{name: "foreign key", script: script{"INSERT": {foreign}}, err: foreign.Err, sent: []string{set, "INSERT", back, release}},
		{name: "a deadlock is not repeated", script: script{"INSERT": {deadlock}, "ROLLBACK": {unknown}}, err: deadlock.Err, sent: []string{set, "INSERT", back}},
		{name: "no way back", script: script{"INSERT": {duplicate}, "ROLLBACK": {{Err: broken}}}, err: broken, sent: []string{set, "INSERT", back}},
		{name: "no savepoint", script: script{"SAVEPOINT": {noTx}}, err: noTx.Err, sent: []string{set}},
		{name: "not released", script: script{"INSERT": {inserted}, "RELEASE": {{Err: broken}, none}}, err: broken, sent: []string{set, "INSERT", release, back, release}},
		{name: "connection of PostgreSQL, no transaction", conn: true, script: script{"SAVEPOINT": {noTx}, "INSERT": {duplicate}}, sent: []string{set, "INSERT"}},
		{name: "the same, inserted", conn: true, script: script{"SAVEPOINT": {noTx}, "INSERT": {inserted}}, want: true, sent: []string{set, "INSERT"}},
		{name: "connection of MySQL, no transaction", conn: true, script: script{"INSERT": {inserted}, "RELEASE": {unknown}}, want: true, sent: []string{set, "INSERT", release}},
		{name: "the same, duplicate", conn: true, script: script{"INSERT": {duplicate}, "ROLLBACK": {unknown}, "RELEASE": {unknown}}, sent: []string{set, "INSERT", back, release}},
		{name: "connection, in a transaction", conn: true, script: script{"INSERT": {duplicate}}, sent: []string{set, "INSERT", back, release}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, fake := c.script.open(t)
			got, err := Insert(t.Context(), handleOf(t, db, c.conn), statement)
			if got != c.want || !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
				t.Errorf("%v, %v; want %v, %v", got, err, c.want, c.err)
			}
			log := slices.DeleteFunc(fake.Log(), func(s string) bool { return s == "BEGIN" })
			if !slices.EqualFunc(log, c.sent, strings.HasPrefix) {
				t.Errorf("sent %q, want %q", log, c.sent)
			}
		})
	}
}

func handleOf(t *testing.T, db *sql.DB, conn bool) Querier {
	t.Helper()
	if conn {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// A transaction that cannot go on must not be taken for one that met a duplicate.
func TestADuplicateInALostTransactionIsNone(t *testing.T) {
	t.Parallel()
	db, _ := script{"INSERT": {duplicate}, "ROLLBACK": {{Err: errors.New("lost")}}}.open(t)
	_, err := Insert(t.Context(), handleOf(t, db, false), statement)
	if err == nil || Is(err) {
		t.Errorf("%v; want an error that is no duplicate", err)
	}
}

// The caller's context ends while the insert runs: the savepoint is undone all the same.
func TestUndoOutlivesTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	fake := fakesql.New(func(_ int, query string) fakesql.Reply {
		if strings.HasPrefix(query, "INSERT") {
			cancel()
			return fakesql.Reply{Err: context.Canceled}
		}
		return none
	})
	db := fake.Open()
	defer db.Close()
	if _, err := Insert(ctx, handleOf(t, db, true), statement); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the context's end", err)
	}
	if log := fake.Log(); len(log) != 4 {
		t.Errorf("sent %q; want the savepoint undone", log)
	}
}

func TestNamedConstraints(t *testing.T) {
	t.Parallel()
	db, _ := script{"INSERT": {duplicate}}.open(t)
	if got, err := On("t_key").Insert(t.Context(), db, statement); got || err != nil {
		t.Errorf("of this constraint: %v, %v; want false", got, err)
	}
	if got, err := On("other").Insert(t.Context(), db, statement); got || !Is(err, "t_key") {
		t.Errorf("of another one: %v, %v; want the error", got, err)
	}
}

func TestHandles(t *testing.T) {
	t.Parallel()
	db, fake := script{"INSERT": {inserted}}.open(t)
	own := struct{ Querier }{db}
	if _, err := Insert(t.Context(), own, statement); !errors.Is(err, ErrHandle) || !strings.Contains(err.Error(), "WithSavepoint") {
		t.Errorf("%v; want ErrHandle with the way out", err)
	}
	if got := len(fake.Log()); got != 0 {
		t.Errorf("%d statements sent", got)
	}
	for _, c := range []struct {
		q    Querier
		sent int
	}{{WithoutSavepoint(own), 1}, {WithSavepoint(own), 3}, {WithoutSavepoint(handleOf(t, db, true)), 1}} {
		before := len(fake.Log())
		if got, err := Insert(t.Context(), c.q, statement); !got || err != nil {
			t.Errorf("%v, %v; want true", got, err)
		}
		if sent := len(fake.Log()) - before; sent != c.sent {
			t.Errorf("sent %d statements, want %d", sent, c.sent)
		}
	}
}

// Public tracker: one duplicate in a batch blames a fresh message, so a statement has one
// row; and INSERT IGNORE hides what is no duplicate.
func TestStatements(t *testing.T) {
	t.Parallel()
	for s, why := range map[string]string{
		"":                                    "no INSERT",
		"UPDATE t SET a = 1":                  "no INSERT",
		"REPLACE INTO t VALUES (1)":           "no INSERT",
		"insert ignore into t values (1)":     "IGNORE",
		"INSERT /*! IGNORE */ INTO t (a)":     "IGNORE",
		"INSERT LOW_PRIORITY IGNORE t (a)":    "IGNORE",
		"INSERT OR IGNORE INTO t VALUES (1)":  "OR",
		"INSERT OR REPLACE INTO t VALUES (1)": "OR",
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1":              "upsert",
		"INSERT INTO t VALUES (1) ON CONFLICT (a) DO\nUPDATE SET b = 1":       "upsert",
		"INSERT INTO t VALUES (1) RETURNING a":                                "RETURNING",
		"INSERT INTO t VALUES (1), (2)":                                       "one row",
		"INSERT INTO t (a, b) VALUES (1, f(2, 3)), (2, 4)":                    "one row",
		"WITH x AS (SELECT 1) INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE": "upsert",
	} {
		if _, err := check(s, false); !errors.Is(err, ErrStatement) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v; want it refused for %q", s, err, why)
		}
	}
	for s, quiet := range map[string]bool{
		"INSERT INTO t VALUES (1)":                                  false,
		"INSERT INTO t (a, b) VALUES (f(1, 2), 'x, y')":             false,
		"INSERT OR ABORT INTO t VALUES (1)":                         false,
		"INSERT INTO t VALUES (REPLACE(?, 'a', 'b'))":               false,
		"INSERT INTO `ignore` VALUES ('ON DUPLICATE KEY UPDATE')":   false,
		"INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING":       true,
		"INSERT INTO t SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM u)": true,
		"WITH x AS (VALUES (1), (2)) INSERT INTO t SELECT 1 FROM x": true,
		"INSERT INTO t (a) VALUES (1) -- ON CONFLICT DO UPDATE":     false,
		"INSERT INTO t SELECT * FROM (VALUES (1), (2)) v LIMIT 1":   true,
		"INSERT INTO t (a) VALUES ((SELECT max(a), 1 FROM t), 2)":   true,
		"INSERT INTO t (\"returning\", \"a\"\"b\") VALUES (1, 2)":   false,
		"INSERT INTO t VALUES (1) ON CONFLICT (a, b) DO NOTHING":    true,
		"INSERT INTO t SET value = 1, a = 2":                        false,
		"INSERT INTO t SELECT value, a FROM u":                      true,
	} {
		if got, err := check(s, false); err != nil || got.quiet != quiet {
			t.Errorf("%q: quiet %v, %v; want %v", s, got.quiet, err, quiet)
		}
	}
	if _, err := check("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", true); !errors.Is(err, ErrStatement) {
		t.Errorf("DO NOTHING with a named constraint: %v; want it refused", err)
	}
}

// The same row at the same moment: the key that is named is not the first one that is met.
func TestChosenKeyMetSecond(t *testing.T) {
	t.Parallel()
	for _, inTx := range []bool{false, true} {
		db, fake := script{"INSERT": {duplicate, none}}.open(t)
		var q Execer = db
		if inTx {
			q = handleOf(t, db, false)
		}
		if got, err := Insert(t.Context(), q, statement+" ON CONFLICT (a) DO NOTHING"); got || err != nil {
			t.Errorf("in a transaction %v: %v, %v; want false; sent %q", inTx, got, err, fake.Log())
		}
	}
}

// A statement that names the key itself hears of another one by an error.
func TestChosenKeys(t *testing.T) {
	t.Parallel()
	for end, chosen := range map[string]bool{
		"": false, " ON CONFLICT DO NOTHING": false, " on conflict (a) do nothing": true, " ON CONFLICT (a) WHERE b DO NOTHING": true,
		" ON CONFLICT ON CONSTRAINT t_key DO NOTHING": true, " ON CONFLICT (a) DO NOTHING ON CONFLICT DO NOTHING": false,
	} {
		db, _ := script{"INSERT": {duplicate}}.open(t)
		if got, err := Insert(t.Context(), db, statement+end); got || Is(err) != chosen {
			t.Errorf("%q: %v, %v; want an error: %v", end, got, err, chosen)
		}
	}
}

func TestQuietStatements(t *testing.T) {
	t.Parallel()
	db, _ := script{"INSERT": {none}}.open(t)
	if got, err := Insert(t.Context(), db, statement+" ON CONFLICT DO NOTHING"); got || err != nil {
		t.Errorf("%v, %v; want false", got, err)
	}
}
