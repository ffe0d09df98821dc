package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/sqltx"
)

func markOf(key, token byte) *semel.ClaimParams {
	p := claimOf(key, token)
	p.Mark = true
	return &p
}

func beginOn(t *testing.T, s *Store) *sql.Tx {
	t.Helper()
	tx, err := s.db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	})
	return tx
}

// The wait of a claim in a transaction is the caller's. It stands in the statement on
// MariaDB; on MySQL it is the session's, for as long as the claim takes.
func TestClaimInATransactionWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		wait    time.Duration
		want    []string // the beginnings of the statements
	}{
		{"", 0, []string{"SET STATEMENT innodb_lock_wait_timeout = 0 FOR INSERT"}},
		{"", 20 * time.Millisecond, []string{"SET STATEMENT innodb_lock_wait_timeout = 0 FOR INSERT"}},
		{"", 2600 * time.Millisecond, []string{"SET STATEMENT innodb_lock_wait_timeout = 3 FOR INSERT"}},
		{"8.4.3", 20 * time.Millisecond, []string{
			"SET @semel_lock_wait = @@innodb_lock_wait_timeout, innodb_lock_wait_timeout = 1", "INSERT", "SET innodb_lock_wait_timeout = @semel_lock_wait",
		}},
		{"8.4.3", 50 * time.Second, []string{"INSERT"}}, // the session's own
	} {
		f := &fake{version: c.version}
		s := openFake(t, f)
		res, err := s.ClaimTx(t.Context(), beginOn(t, s), markOf(1, 1), c.wait)
		if err != nil || res.Outcome != semel.ClaimAcquired || !res.Mine || res.Record.State != semel.StateDone {
			t.Errorf("%s, %v: %+v, %v", c.version, c.wait, res, err)
		}
		if !slices.EqualFunc(f.log, c.want, strings.HasPrefix) {
			t.Errorf("%s, %v: statements %q; want %q", c.version, c.wait, f.log, c.want)
		}
	}
}

// A record that is locked is told from any other lock, and the session is put right.
func TestClaimInATransactionBehindAnother(t *testing.T) {
	t.Parallel()
	f := &fake{version: "8.4.3"}
	s := openFake(t, f)
	f.script(on("INSERT INTO", reply{err: lockWait1205}))
	_, err := s.ClaimTx(t.Context(), beginOn(t, s), markOf(1, 1), time.Second)
	if class, open := s.ClassTx(err); class != intx.ClassLocked || open || !errors.Is(err, errSameKey) {
		t.Errorf("%v: class %v, open %v; want that the key is held", err, class, open)
	}
	if last := f.log[len(f.log)-1]; !strings.HasPrefix(last, "SET innodb_lock_wait_timeout = @") {
		t.Errorf("the last statement is %q; want the session's wait back", last)
	}
}

// With innodb_rollback_on_timeout a mark that waits too long takes the caller's
// transaction with it: that is not "running", after which the transaction would go on.
func TestMarkTellsOfATransactionThatIsGone(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	tx := beginOn(t, s)
	f.script(func(query string) (reply, bool) {
		switch {
		case strings.Contains(query, "INSERT INTO"):
			return reply{err: lockWait1205}, true
		case strings.HasPrefix(query, "ROLLBACK TO"), strings.HasPrefix(query, "RELEASE"):
			return reply{err: serverError("Error 1305 (42000): SAVEPOINT semel_mark does not exist")}, true
		}
		return reply{}, false
	})
	db := sqltx.New(s.db, s, sql.LevelDefault)
	_, err := db.Mark(t.Context(), tx, markOf(1, 1), time.Second)
	if err == nil || db.Class(err) == intx.ClassLocked {
		t.Errorf("error %v, class %v; want one that does not say that the key is held", err, db.Class(err))
	}
}

// A record that is there is read under its lock, since a snapshot of the transaction
// may hide what it is.
func TestClaimInATransactionReadsUnderTheLock(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	f.script(func(query string) (reply, bool) {
		switch {
		case strings.Contains(query, "INSERT INTO"):
			return reply{affected: 0, id: fakeNow}, true
		case strings.HasPrefix(query, "SELECT"):
			return reply{rows: [][]driver.Value{rowOf(claimOf(1, 77))}}, strings.HasSuffix(query, "FOR UPDATE")
		}
		return reply{}, false
	})
	res, err := s.ClaimTx(t.Context(), beginOn(t, s), markOf(1, 1), time.Second)
	if err != nil || res.Outcome != semel.ClaimRunning {
		t.Errorf("%v, %v; want running", res.Outcome, err)
	}
}

func TestResultInATransactionNeedsItsRecord(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	p := finishOf(1, 1)
	for _, c := range []struct {
		name    string
		changed int64
		row     []driver.Value
		want    bool
	}{
		{"filled", 1, nil, true},
		{"none", 0, nil, false},
		{"another's", 0, doneRow(claimOf(1, 77)), false},
		{"filled with the same before", 0, doneRow(claimOf(1, 1)), true},
	} {
		f.script(func(query string) (reply, bool) {
			if strings.HasPrefix(query, "UPDATE") {
				return reply{affected: c.changed}, true
			}
			if c.row == nil {
				return reply{}, true
			}
			return reply{rows: [][]driver.Value{c.row}}, true
		})
		if found, err := s.FinishTx(t.Context(), beginOn(t, s), &p); err != nil || found != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, found, err, c.want)
		}
	}
}

func doneRow(p semel.ClaimParams) []driver.Value {
	row := rowOf(p)
	row[2] = int64(semel.StateDone)
	return row
}

// A server hangs up at a statement that is too large for it, each time anew: such a
// result must not be tried for ever, nor keep the effects from being committed.
func TestResultsTooLargeForTheServer(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	s.maxResult = 100
	p := finishOf(1, 1)
	p.Result.Data = make([]byte, 101)
	if _, err := s.Finish(t.Context(), p); len(f.took()) > 0 {
		t.Error("the result was sent")
	} else {
		wantOnly(t, err, semel.ErrStoreFull)
	}
	if found, err := s.FinishTx(t.Context(), beginOn(t, s), &p); err != nil || !found {
		t.Errorf("in a transaction: %v, %v", found, err)
	}
	if kind, data := f.args[0], f.args[1].([]byte); kind != int64(semel.ResultTombstone) || len(data) > 0 {
		t.Errorf("in a transaction: result kind %v with %d bytes; want a tombstone", kind, len(data))
	}
	p.Result.Data = p.Result.Data[:100]
	if _, err := s.Finish(t.Context(), p); err != nil {
		t.Error(err)
	}
}
