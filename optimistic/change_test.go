package optimistic

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel/internal/fakesql"
)

// change is one of a row that the caller has seen at version 3.
func change() Change { return Change{Update: "UPDATE", Current: "SELECT;", Version: 3} }

// reply answers UPDATE, SELECT and SELECT … FOR UPDATE in turns; the last answer stays.
type reply struct{ update, current, locked []fakesql.Reply }

func (r *reply) database() *fakesql.Database {
	return fakesql.New(func(_ int, query string) fakesql.Reply {
		switch query {
		case "UPDATE":
			return turn(&r.update)
		case "SELECT;":
			return turn(&r.current)
		case "SELECT\nFOR UPDATE":
			return turn(&r.locked)
		}
		return fakesql.Reply{}
	})
}

func turn(replies *[]fakesql.Reply) fakesql.Reply {
	all := *replies
	if len(all) > 1 {
		*replies = all[1:]
	}
	if len(all) == 0 {
		return fakesql.Reply{}
	}
	return all[0]
}

func affected(n int64) fakesql.Reply { return fakesql.Reply{Affected: n} }
func version(n int64) fakesql.Reply  { return fakesql.Reply{Rows: []int64{n}} }
func failed(err error) fakesql.Reply { return fakesql.Reply{Err: err} }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestExec(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	conflict, unmatched := is[*ConflictError], is[*UnmatchedError]
	for _, c := range []struct {
		name  string
		tx    bool
		reply reply
		is    error            // the error matches it
		as    func(error) bool // or is of this type
		now   int64            // a conflict's current version
		sent  int
	}{
		{name: "changed", reply: reply{update: []fakesql.Reply{affected(1)}}, sent: 1},
		{name: "conflict", reply: reply{current: []fakesql.Reply{version(4)}}, is: ErrConflict, as: conflict, now: 4, sent: 2},
		{name: "missing", is: ErrMissing, sent: 2},
		{name: "several", reply: reply{update: []fakesql.Reply{affected(2)}}, is: ErrSeveral, sent: 1},
		{name: "the UPDATE fails", reply: reply{update: []fakesql.Reply{failed(broken)}}, is: broken, sent: 1},
		{name: "the query fails", reply: reply{current: []fakesql.Reply{failed(broken)}}, is: broken, sent: 2},
		{name: "no version", reply: reply{current: []fakesql.Reply{{Rows: []int64{}}}}, is: ErrMissing, sent: 2},
		{name: "replaced in between", reply: reply{update: []fakesql.Reply{affected(0), affected(1)}, current: []fakesql.Reply{version(3)}}, sent: 3},
		{name: "another condition", reply: reply{current: []fakesql.Reply{version(3)}}, as: unmatched, sent: 6},
		{name: "an old snapshot, changed", tx: true, reply: reply{current: []fakesql.Reply{version(3)}, locked: []fakesql.Reply{version(5)}}, is: ErrConflict, as: conflict, now: 5, sent: 4},
		{name: "an old snapshot, deleted", tx: true, reply: reply{current: []fakesql.Reply{version(3)}}, is: ErrMissing, sent: 4},
		{name: "SQLite locks no rows", tx: true, reply: reply{current: []fakesql.Reply{version(3)}, locked: []fakesql.Reply{failed(sqlite(1))}}, as: unmatched, sent: 10},
		{name: "the lock fails", tx: true, reply: reply{current: []fakesql.Reply{version(3)}, locked: []fakesql.Reply{failed(broken)}}, is: broken, sent: 4},
		{name: "sent twice, changed", reply: reply{update: []fakesql.Reply{failed(driver.ErrBadConn), affected(1)}}, sent: 2},
		{name: "sent twice, another version", reply: reply{update: []fakesql.Reply{failed(driver.ErrBadConn), affected(0)}, current: []fakesql.Reply{version(4)}}, is: ErrNoReply, sent: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fake := c.reply.database()
			db := fake.Open()
			defer db.Close()
			var q Querier = db
			if c.tx {
				tx, err := db.BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback()
				q = tx
			}
			err := Exec(t.Context(), q, change())
			if (err == nil) != (c.is == nil && c.as == nil) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v; want %v", err, c.is)
			}
			if c.as != nil && !c.as(err) {
				t.Errorf("%T; want another type", err)
			}
			if e, ok := errors.AsType[*ConflictError](err); ok && (e.Seen != 3 || e.Current != c.now) {
				t.Errorf("%+v; want seen 3, current %d", e, c.now)
			}
			if log := fake.Log(); len(log) != c.sent {
				t.Errorf("%d statements, want %d: %q", len(log), c.sent, log)
			}
		})
	}
}

// MariaDB counts no rows of DELETE … RETURNING: the caller's own work would be told as a row
// that is missing.
func TestReturningIsNotSent(t *testing.T) {
	t.Parallel()
	fake := new(reply).database()
	db := fake.Open()
	defer db.Close()
	c := change()
	c.Update = "DELETE FROM t WHERE id = 1 AND version = 3 returning id"
	if err := Exec(t.Context(), db, c); !errors.Is(err, errReturning) || len(fake.Log()) > 0 {
		t.Errorf("%v, sent %q", err, fake.Log())
	}
}

// sqlite is an error of SQLite with this code.
type sqlite int

func (e sqlite) Error() string { return fmt.Sprintf(`near "FOR": syntax error (%d)`, int(e)) }
func (e sqlite) Code() int     { return int(e) }

func TestCurrentWithALockGetsNoSecondOne(t *testing.T) {
	t.Parallel()
	fake := fakesql.New(func(_ int, query string) fakesql.Reply {
		if query == "UPDATE" {
			return affected(0)
		}
		return version(3)
	})
	db := fake.Open()
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	c := change()
	c.Current = "SELECT LOCK IN SHARE MODE"
	if _, ok := errors.AsType[*UnmatchedError](Exec(t.Context(), tx, c)); !ok {
		t.Error("want unmatched")
	}
	if slices.ContainsFunc(fake.Log(), func(s string) bool { return strings.HasSuffix(s, "FOR UPDATE") }) {
		t.Errorf("sent %q", fake.Log())
	}
}
