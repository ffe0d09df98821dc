package dup

import (
	"errors"
	"strings"
	"testing"

	"github.com/semel-go/semel/internal/fakesql"
)

func get(t *testing.T, q Querier, query string) (row int64, inserted bool, err error) {
	t.Helper()
	return InsertOrGet(t.Context(), q, Statements{Insert: statement, Select: query}, func(r Row) (n int64, err error) {
		return n, r.Scan(&n)
	})
}

func TestInsertOrGet(t *testing.T) {
	t.Parallel()
	row := fakesql.Reply{Rows: []int64{7}}
	inMySQL := fakesql.Reply{Err: server(1062, "Duplicate entry 'a' for key 't'")}
	broken := fakesql.Reply{Err: errors.New("broken")}
	for _, c := range []struct {
		name             string
		tx               bool
		inserts, selects []fakesql.Reply
		row              int64
		inserted         bool
		err              error
		unseen           bool
		sent             int
	}{
		{name: "inserted", inserts: []fakesql.Reply{inserted}, selects: []fakesql.Reply{row}, row: 7, inserted: true, sent: 2},
		{name: "there", inserts: []fakesql.Reply{duplicate}, selects: []fakesql.Reply{row}, row: 7, sent: 2},
		{name: "gone in between, then inserted", inserts: []fakesql.Reply{duplicate, inserted}, selects: []fakesql.Reply{none, row}, row: 7, inserted: true, sent: 4},
		{name: "comes and goes", inserts: []fakesql.Reply{duplicate}, selects: []fakesql.Reply{none}, unseen: true, sent: 2 * tries},
		{name: "inserted and gone", inserts: []fakesql.Reply{inserted}, selects: []fakesql.Reply{none}, inserted: true, unseen: true, sent: 2},
		{name: "refused", inserts: []fakesql.Reply{foreign}, err: foreign.Err, sent: 1},
		{name: "the query fails", inserts: []fakesql.Reply{inserted}, selects: []fakesql.Reply{broken}, inserted: true, err: broken.Err, sent: 2},
		{name: "MySQL's pool reads what is committed", inserts: []fakesql.Reply{inMySQL}, selects: []fakesql.Reply{none}, unseen: true, sent: 2 * tries},
		{name: "MySQL's transaction reads with a lock", tx: true, inserts: []fakesql.Reply{inMySQL}, selects: []fakesql.Reply{none, row}, row: 7, sent: 7},
		{name: "PostgreSQL's transaction cannot see it", tx: true, inserts: []fakesql.Reply{duplicate}, selects: []fakesql.Reply{none}, unseen: true, sent: 1 + 5*tries},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, fake := script{"INSERT": c.inserts, "SELECT": c.selects}.open(t)
			var q Querier = db
			if c.tx {
				q = handleOf(t, db, false)
			}
			got, in, err := get(t, q, "SELECT a FROM t;")
			unseen, isUnseen := errors.AsType[*UnseenError](err)
			if got != c.row || in != c.inserted || isUnseen != c.unseen || !c.unseen && !errors.Is(err, c.err) {
				t.Errorf("%d, %v, %v; want %d, %v, %v (unseen %v)", got, in, err, c.row, c.inserted, c.err, c.unseen)
			}
			if isUnseen && unseen.Inserted != c.inserted {
				t.Errorf("unseen, inserted %v; want %v", unseen.Inserted, c.inserted)
			}
			if n := len(fake.Log()); n != c.sent {
				t.Errorf("%d statements, want %d: %q", n, c.sent, fake.Log())
			}
			for _, s := range fake.Log() {
				if strings.Contains(s, "LOCK") && s != "SELECT a FROM t\nLOCK IN SHARE MODE" {
					t.Errorf("sent %q", s)
				}
			}
		})
	}
}

// A query with a lock of its own gets no second one.
func TestLocksAreNotDoubled(t *testing.T) {
	t.Parallel()
	db, fake := script{"INSERT": {{Err: server(1062, "Duplicate entry 'a' for key 't'")}}}.open(t)
	if _, _, err := get(t, handleOf(t, db, false), "SELECT a FROM t FOR UPDATE"); !Retryable(err) {
		t.Errorf("%v; want unseen", err)
	}
	for _, s := range fake.Log() {
		if strings.Contains(s, "LOCK IN") {
			t.Errorf("sent %q", s)
		}
	}
}

func TestRefusedStatementsAreNotSent(t *testing.T) {
	t.Parallel()
	db, fake := script{}.open(t)
	_, _, err := InsertOrGet(t.Context(), db, Statements{Insert: "REPLACE INTO t VALUES (1)", Select: "SELECT 1"}, func(Row) (int, error) { return 0, nil })
	if !errors.Is(err, ErrStatement) || len(fake.Log()) != 0 {
		t.Errorf("%v, sent %q; want it refused", err, fake.Log())
	}
}

func TestErrorsOfScan(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	db, _ := script{"INSERT": {inserted}, "SELECT": {{Rows: []int64{7}}}}.open(t)
	_, in, err := InsertOrGet(t.Context(), db, Statements{Insert: statement, Select: "SELECT 1"}, func(Row) (int, error) { return 0, no })
	if !in || !errors.Is(err, no) {
		t.Errorf("%v, %v; want true and the error", in, err)
	}
}
