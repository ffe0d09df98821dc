package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// unfit are settings of a connection that a store must not run on, with what the
// refusal has to say.
var unfit = map[string]struct {
	query string
	row   driver.Value
	fix   string
}{
	"in memory":               {"PRAGMA journal_mode", "memory", "memstore"},
	"rollback journal":        {"PRAGMA journal_mode", "delete", "journal_mode=WAL"},
	"synchronous normal":      {"PRAGMA synchronous", int64(1), "synchronous=FULL"},
	"synchronous off":         {"PRAGMA synchronous", int64(0), "synchronous=FULL"},
	"no busy timeout":         {"PRAGMA busy_timeout", int64(0), "busy_timeout=5000"},
	"an old SQLite":           {"SELECT sqlite_version()", "3.36.9", "3.37"},
	"an SQLite before UPSERT": {"SELECT sqlite_version()", "2.8.17", "3.37"},
}

func TestUnfitConnectionsAreRefusedWithTheFix(t *testing.T) {
	t.Parallel()
	for name, c := range unfit {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			f.script(func(_ int, query string) (reply, bool) { return reply{row: []driver.Value{c.row}}, query == c.query })
			_, err := Open(t.Context(), f, Options{Prefix: "semel_", BusyTimeout: time.Second, Now: time.Now})
			wantText(t, "Open", err, c.fix)
			db := sql.OpenDB(f)
			defer db.Close()
			_, err = New(t.Context(), db, Options{Prefix: "semel_", BusyTimeout: time.Second, Now: time.Now})
			wantText(t, "New", err, c.fix)
		})
	}
}

func wantText(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %v; want one that says %q", what, err, text)
	}
}

// Drivers' defaults differ, and a pool opens connections when it likes: each one
// is looked at, not only the first.
func TestLaterUnfitConnectionIsRefused(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f, Options{})
	good := f.conns
	f.script(func(conn int, query string) (reply, bool) {
		return reply{row: []driver.Value{int64(1)}}, conn > good && query == "PRAGMA synchronous"
	})
	var held []*sql.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	for {
		c, err := s.DB().Conn(t.Context())
		if err != nil {
			wantText(t, "a new connection", err, "synchronous=FULL")
			return
		}
		held = append(held, c)
		if len(held) > good {
			t.Fatal("a connection with synchronous=NORMAL was handed out")
		}
	}
}

func TestEveryConnectionIsSetUp(t *testing.T) {
	t.Parallel()
	f := &fake{}
	set := make(map[int][]string)
	f.script(func(conn int, query string) (reply, bool) {
		if strings.Contains(query, " = ") && strings.HasPrefix(query, "PRAGMA") {
			set[conn] = append(set[conn], query)
		}
		return reply{}, false
	})
	openFake(t, f, Options{BusyTimeout: 7 * time.Second})
	want := []string{"PRAGMA busy_timeout = 7000", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"}
	for conn := 1; conn <= f.conns; conn++ {
		if got := set[conn]; !slices.Equal(got[:min(3, len(got))], want) {
			t.Errorf("connection %d was set up with %q; want %q", conn, got, want)
		}
	}
}

// A new file needs to be alone for the switch to WAL, and several processes may
// start on it at once.
func TestSwitchToWALIsRepeatedWhileOthersAreThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := &fake{}
		f.script(func(_ int, query string) (reply, bool) {
			busy := query == "PRAGMA journal_mode = WAL" && time.Since(start) < time.Second
			return reply{err: &codeError{5}}, busy
		})
		openFake(t, f, Options{})
	})
}

func TestGuaranteesFollowTheSettings(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f, Options{})
	f.script(on("SELECT journal_mode", reply{row: []driver.Value{int64(1)}}))
	g, err := s.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil {
		t.Fatal(err)
	}
	if g.SurvivesPowerLoss != semel.Yes || g.SurvivesFailover == semel.Yes || g.SingleRegister != semel.Yes {
		t.Errorf("WAL and FULL: %+v", g)
	}
	f.script(func(_ int, query string) (reply, bool) {
		return reply{row: []driver.Value{int64(1)}}, !isTransaction(query)
	})
	if g, err = s.Guarantees(t.Context(), semel.GuaranteesParams{}); err != nil {
		t.Fatal(err)
	}
	if g.SurvivesPowerLoss != semel.No || g.SurvivesProcess != semel.Yes || len(g.Facts) != 1 || len(g.Notes) != 1 {
		t.Errorf("WAL and NORMAL: %+v; want no promise for a loss of power, with a note", g)
	}
}

func isTransaction(query string) bool {
	return slices.Contains([]string{"BEGIN IMMEDIATE", "ROLLBACK"}, query)
}

func TestClassesOfErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want class
	}{
		{&codeError{5}, classBusy},
		{&codeError{6}, classBusy},
		{&codeError{5 | 2<<8}, classBusy},
		{&codeError{13}, classFull},
		{&codeError{10 | 4<<8}, classBroken},
		{&codeError{19}, classOther},
		{errors.New("sqlite3: database is locked"), classBusy},
		{errors.New("database or disk is full"), classFull},
		{errors.New("disk I/O error"), classBroken},
		{errors.New("UNIQUE constraint failed"), classOther},
	} {
		if got := classify(errors.Join(c.err)); got != c.want {
			t.Errorf("%v (%#v): class %d; want %d", c.err, c.err, got, c.want)
		}
	}
}
