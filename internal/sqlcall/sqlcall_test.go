package sqlcall

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

func TestWords(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"":                                   "",
		"insert into t values (?, $1)":       "INSERT INTO T VALUES ( , 1 )",
		"a 'b''c' d":                         "A D",
		"a \"b\" `c` d -- e\n f":             "A D F",
		"a -- b":                             "A",
		"a /* b */ c /* d":                   "A C",
		"insert /*! ignore */ into":          "INSERT IGNORE INTO",
		"insert /*!50000 ignore*/ into":      "INSERT 50000 IGNORE INTO",
		"insert /*M! ignore */ into":         "INSERT IGNORE INTO",
		"a 'open":                            "A",
		"größe x":                            "GRÖßE X",
		"a - b":                              "A B",
		"on conflict do\n\tnothing;":         "ON CONFLICT DO NOTHING",
		"x=excluded.x":                       "X EXCLUDED X",
		"\xff":                               "\uFFFD",
		"select a from t for update;":        "SELECT A FROM T FOR UPDATE",
		"select 'for update' from t":         "SELECT FROM T",
		"select a from t lock in share mode": "SELECT A FROM T LOCK IN SHARE MODE",
	} {
		if got := strings.Join(Words(statement), " "); !strings.EqualFold(got, want) {
			t.Errorf("%q: %q; want %q", statement, got, want)
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	words := []string{"A", "B", "A", "C"}
	for phrase, want := range map[string]bool{"A": true, "A C": true, "B A C": true, "C": true, "C A": false, "A A": false, "A B A C A": false} {
		if Has(words, strings.Fields(phrase)...) != want {
			t.Errorf("%q: want %v", phrase, want)
		}
	}
}

func TestLocks(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"select a from t": false, "select a from t for update": true, "SELECT a FROM t LOCK IN SHARE MODE": true, "select 'for' from t": false,
	} {
		if Locks(query) != want {
			t.Errorf("%q: want %v", query, want)
		}
	}
}

// A comment at the end of a query takes in what stands on its line.
func TestBehind(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT a FROM t":           "SELECT a FROM t\nFOR UPDATE",
		"SELECT a FROM t ;\n":       "SELECT a FROM t\nFOR UPDATE",
		"SELECT a FROM t -- by key": "SELECT a FROM t -- by key\nFOR UPDATE",
	} {
		if got := Behind(query, "FOR UPDATE"); got != want || !Locks(got) {
			t.Errorf("%q: %q; want %q", query, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"insert into t values ('a')", "/*!", "--", "'", "a/**/b", "größe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, statement string) {
		words := Words(statement)
		if again := Words(strings.Join(words, " ")); !slices.Equal(words, again) {
			t.Errorf("%q: words %q, of which the words are %q", statement, words, again)
		}
	})
}

func TestKinds(t *testing.T) {
	t.Parallel()
	db := fakesql.New(func(int, string) fakesql.Reply { return fakesql.Reply{} }).Open()
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, c := range []struct {
		q    Execer
		want Kind
	}{
		{db, IsPool}, {conn, IsConn}, {tx, IsTx},
		{struct{ *sql.DB }{db}, IsPool}, {struct{ *sql.Conn }{conn}, IsConn}, {struct{ *sql.Tx }{tx}, IsTx},
		{struct{ Execer }{tx}, Unknown}, {says{tx, true}, IsTx}, {says{db, false}, IsBare},
	} {
		if got := KindOf(c.q); got != c.want {
			t.Errorf("%T: %d; want %d", c.q, got, c.want)
		}
	}
}

type says struct {
	Execer
	inTx bool
}

func (s says) InTransaction() bool { return s.inTx }

// Public tracker: the reply is lost, the client library sends again, and the caller takes
// its own work for somebody else's.
func TestResentStatementsAreTold(t *testing.T) {
	t.Parallel()
	failure := errors.New("syntax")
	for _, c := range []struct {
		name  string
		bad   int // how often the connection is bad
		err   error
		doubt bool
		sent  int
	}{
		{name: "at once", sent: 1},
		{name: "an error", err: failure, sent: 1},
		{name: "the second time", bad: 1, doubt: true, sent: 2},
		{name: "an error the second time", bad: 1, err: failure, doubt: true, sent: 2},
		{name: "the third time, by database/sql", bad: 2, doubt: true, sent: 3},
		{name: "the fourth time, by database/sql", bad: 3, doubt: true, sent: 4},
		{name: "never", bad: 99, err: driver.ErrBadConn, doubt: true, sent: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			fake := fakesql.New(func(int, string) fakesql.Reply {
				if sent++; sent <= c.bad {
					return fakesql.Reply{Err: driver.ErrBadConn}
				}
				return fakesql.Reply{Affected: 1, Err: c.err}
			})
			db := fake.Open()
			defer db.Close()
			_, doubt, err := Exec(t.Context(), db, "INSERT", nil)
			if doubt != c.doubt || !errors.Is(err, c.err) || sent != c.sent {
				t.Errorf("doubt %v, %v, sent %d times; want %v, %v, %d", doubt, err, sent, c.doubt, c.err, c.sent)
			}
		})
	}
}

func TestNoConnectionIsNoDoubt(t *testing.T) {
	t.Parallel()
	db := fakesql.New(func(int, string) fakesql.Reply { return fakesql.Reply{} }).Open()
	db.Close()
	if _, doubt, err := Exec(t.Context(), db, "INSERT", nil); doubt || err == nil {
		t.Errorf("a closed pool: doubt %v, %v", doubt, err)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	broken, refusal := errors.New("broken"), errors.New("no such column")
	db := fakesql.New(func(_ int, query string) fakesql.Reply {
		switch query {
		case "two":
			return fakesql.Reply{Rows: []int64{1, 2}}
		case "broken":
			return fakesql.Reply{Err: broken}
		}
		return fakesql.Reply{}
	}).Open()
	defer db.Close()
	db.SetMaxOpenConns(1) // rows that stay open would block the next query
	for _, c := range []struct {
		query string
		scan  error
		found bool
		err   error
	}{{"two", nil, true, nil}, {"two", refusal, true, refusal}, {"none", nil, false, nil}, {"broken", nil, false, broken}} {
		calls := 0
		found, err := First(context.Background(), db, c.query, nil, func(Row) error { calls++; return c.scan })
		if found != c.found || !errors.Is(err, c.err) || (calls == 1) != c.found {
			t.Errorf("%s: found %v, %v, %d scans; want %v, %v", c.query, found, err, calls, c.found, c.err)
		}
	}
}
