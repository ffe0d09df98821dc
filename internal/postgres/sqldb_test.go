package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
)

// vanishing is a server that executes a statement, closes the connection instead of a
// reply, as one that ends does, and answers no more. Its driver reports that as lib/pq
// does.
type vanishing struct {
	executed int
	refusal  error // to connect again
}

func (v *vanishing) Connect(context.Context) (driver.Conn, error) {
	if v.executed > 0 {
		return nil, v.refusal
	}
	return vanishingConn{v}, nil
}

func (v *vanishing) Driver() driver.Driver { return nil }

type vanishingConn struct{ server *vanishing }

func (c vanishingConn) Prepare(string) (driver.Stmt, error) { return vanishingStmt(c), nil }

func (vanishingConn) Begin() (driver.Tx, error) { return nil, errors.New("no transactions") }

func (vanishingConn) Close() error { return nil }

type vanishingStmt struct{ server *vanishing }

func (vanishingStmt) Close() error { return nil }

func (vanishingStmt) NumInput() int { return -1 }

func (vanishingStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.New("no exec") }

func (s vanishingStmt) Query([]driver.Value) (driver.Rows, error) {
	s.server.executed++
	return nil, driver.ErrBadConn
}

// A server that ends after a claim and before its reply: database/sql tries again by
// itself and finds nobody. The claim may be there, so its caller must release it.
func TestStatementIsNotUnsentBecauseItsRepetitionWas(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"nobody listens":       &net.OpError{Op: "dial", Err: errors.New("connection refused")},
		"the server starts up": coded("57P03"),
	} {
		for _, prepare := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := &vanishing{refusal: refusal}
					db := sql.OpenDB(server)
					defer func() { _ = db.Close() }() // its connections are gone
					s := newStore(SQL(db, prepare), Options{Prefix: "semel_", MaxBatch: 512, Timeout: 5 * time.Second, Direct: 1})
					_, err := s.Claim(t.Context(), claimOf(1))
					if server.executed != 1 || !errors.Is(err, semel.ErrNoReply) || errors.Is(err, semel.ErrStoreUnavailable) {
						t.Errorf("executed %d times, error %v; want once, and one that matches semel.ErrNoReply", server.executed, err)
					}
					_, err = s.Claim(t.Context(), claimOf(2))
					if !errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, semel.ErrNoReply) {
						t.Errorf("the next claim: %v; want that it was not executed", err)
					}
				})
			})
		}
	}
}

// twins is a server at which two prepare at the same time.
type twins struct {
	vanishing
	both   sync.WaitGroup
	closed atomic.Int32
}

func (w *twins) Connect(context.Context) (driver.Conn, error) { return twinConn{server: w}, nil }

type twinConn struct {
	vanishingConn
	server *twins
}

func (c twinConn) Prepare(string) (driver.Stmt, error) {
	c.server.both.Done()
	c.server.both.Wait()
	return twinStmt{server: c.server}, nil
}

type twinStmt struct {
	vanishingStmt
	server *twins
}

func (s twinStmt) Close() error {
	s.server.closed.Add(1)
	return nil
}

// Of two who prepare the same statement, the one who comes second does not close it:
// database/sql keeps the pool locked meanwhile, and lib/pq waits for a reply.
func TestStatementsAreClosedWithTheStore(t *testing.T) {
	t.Parallel()
	server := new(twins)
	server.both.Add(2)
	db := sql.OpenDB(server)
	defer db.Close()
	d := SQL(db, true).(*sqlDatabase)
	var all sync.WaitGroup
	var got [2]*sql.Stmt
	for i := range got {
		all.Go(func() {
			stmt, err := d.statement(t.Context(), "SELECT 1")
			if err != nil {
				t.Error(err)
			}
			got[i] = stmt
		})
	}
	all.Wait()
	if n := server.closed.Load(); n != 0 || got[0] != got[1] {
		t.Errorf("%d closed; the same statement: %v", n, got[0] == got[1])
	}
	if err := d.Close(); err != nil || server.closed.Load() != 2 {
		t.Errorf("closed with the store: %d, %v", server.closed.Load(), err)
	}
}
