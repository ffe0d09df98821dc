package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/sqlstore"
)

// holdKey inserts a record in a transaction and leaves it open, as a transaction with
// its record beside its own rows does.
func holdKey(t *testing.T, db *sql.DB, key semel.KeyID) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO semel_record SELECT x'%x', 1, 3, 1, x'%[1]x', 1, 1, 1, 9223372036854775807, 1, 0, 0, REPEAT(x'00', 33), REPEAT(x'00', 8), 'x', '', 1, 'held', NULL", key[:]))
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// RELIABILITY.md §3.18: a claim behind an open transaction on its key learns "running"
// once it has waited for the lock. Nobody else waits with it: the claims and finishes
// of other keys are answered while the transaction is still open.
func TestMySQLHeldKeyDelaysOnlyItself(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	held := randomKey()
	tx := holdKey(t, db, held)
	answered := make(chan error, 4)
	for range cap(answered) {
		go func() {
			res, err := s.Claim(t.Context(), mysqlClaim(held))
			if err == nil && (res.Outcome != semel.ClaimRunning || res.Record.LeaseLeft <= 0) {
				err = fmt.Errorf("%v, lease left %v; want running", res.Outcome, res.Record.LeaseLeft)
			}
			answered <- err
		}()
	}
	concurrentCalls(t, 32, 5, func(int) error {
		p := mysqlClaim(randomKey())
		res, err := s.Claim(t.Context(), p)
		if err != nil || res.Outcome != semel.ClaimAcquired {
			return fmt.Errorf("a new key is %v, %w", res.Outcome, err)
		}
		_, err = s.Finish(t.Context(), mysqlDone(p.Key, p.Token, "result"))
		return err
	})
	for range cap(answered) {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	fp := mysqlClaim(held)
	res, err := s.Claim(t.Context(), fp)
	if err != nil || res.Outcome != semel.ClaimDone || string(res.Record.Result.Data) != "held" {
		t.Errorf("after the commit: %v %q, %v; want the result", res.Outcome, res.Record.Result.Data, err)
	}
}

// A claim that waited gets the key when the transaction before it is rolled back, with a
// lease that is alive.
func TestMySQLRolledBackKeyIsFree(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	held := randomKey()
	tx := holdKey(t, db, held)
	answered := make(chan semel.ClaimResult, 1)
	go func() {
		res, err := s.Claim(t.Context(), mysqlClaim(held))
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}()
	waitForClaim(t, db)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if res := <-answered; res.Outcome != semel.ClaimAcquired && res.Outcome != semel.ClaimRunning || res.Outcome == semel.ClaimAcquired && res.Record.LeaseLeft <= 0 {
		t.Errorf("%v, lease left %v; want the key", res.Outcome, res.Record.LeaseLeft)
	}
}

// waitForClaim returns when a claim is under way in this database.
func waitForClaim(t *testing.T, db *sql.DB) {
	t.Helper()
	const claims = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE '%INSERT INTO semel_record%'"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := 0; n == 0; {
		if err := db.QueryRowContext(ctx, claims).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}

// No statement of the store changes what other users of the pool's sessions wait for.
func TestMySQLLeavesSessionsAsTheyWere(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), map[string]string{"innodb_lock_wait_timeout": "7"})
	db.SetMaxOpenConns(2)
	s := mysqlStore(t, db, nil)
	p := mysqlClaim(randomKey())
	if _, err := s.Claim(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(t.Context(), mysqlDone(p.Key, p.Token, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(t.Context(), semel.PurgeParams{Limit: 10}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		var wait int
		var isolation string
		if err := db.QueryRowContext(t.Context(), "SELECT @@innodb_lock_wait_timeout, @@tx_isolation").Scan(&wait, &isolation); err != nil {
			t.Fatal(err)
		}
		if wait != 7 || isolation != "REPEATABLE-READ" {
			t.Errorf("the session waits %d s for locks in %s; want 7 s in REPEATABLE-READ", wait, isolation)
		}
	}
}

// A connection that hangs holds up the calls in its batch, which end with the store's
// timeout, and no others. Whether they were executed is unknown.
func TestMySQLHungConnectionIsBounded(t *testing.T) {
	t.Parallel()
	server := engines.MariaDB(t)
	dsn := server.Database(t)
	proxy := faultproxy.MySQL(t, server.Addr())
	s := mysqlStore(t, mysqlDB(t, engines.Through(dsn, proxy.Addr()), nil), &sqlstore.Options{Timeout: time.Second})
	hung := mysqlClaim(randomKey())
	hole := proxy.Arm(isMySQLClaim, faultproxy.Blackhole())
	answered := make(chan error, 1)
	go func() { _, err := s.Claim(t.Context(), hung); answered <- err }()
	<-hole.Fired()
	concurrentCalls(t, 16, 3, func(int) error {
		res, err := s.Claim(t.Context(), mysqlClaim(randomKey()))
		if err != nil || res.Outcome != semel.ClaimAcquired {
			return fmt.Errorf("a new key is %v, %w", res.Outcome, err)
		}
		return nil
	})
	if err := <-answered; !errors.Is(err, semel.ErrNoReply) || errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("the hung claim: %v; want no reply", err)
	}
}

// isMySQLClaim tells a claim among the statements of a store.
func isMySQLClaim(statement string) bool {
	return strings.Contains(statement, "INSERT INTO semel_record")
}

// Field fault: the reply to a claim is lost, the caller asks again and waits for his own
// claim. The same token gets it.
func TestMySQLClaimWithoutReplyIsTheCallers(t *testing.T) {
	t.Parallel()
	server := engines.MariaDB(t)
	dsn := server.Database(t)
	proxy := faultproxy.MySQL(t, server.Addr())
	s := mysqlStore(t, mysqlDB(t, engines.Through(dsn, proxy.Addr()), nil), nil)
	p := mysqlClaim(randomKey())
	cut := proxy.Arm(isMySQLClaim, faultproxy.CutReply())
	if _, err := s.Claim(t.Context(), p); !errors.Is(err, semel.ErrNoReply) {
		t.Errorf("a claim whose reply was cut: %v; want no reply", err)
	}
	<-cut.Fired()
	first, err := s.Read(t.Context(), semel.ReadParams{Key: p.Key})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Claim(t.Context(), p)
	if err != nil || res.Outcome != semel.ClaimAcquired || !res.Mine || res.Record.Fence != first.Fence || res.Record.Attempt != 1 {
		t.Errorf("the same claim again: %+v, %v; want it acquired, unchanged", res, err)
	}
}

// A caller who leaves does not stop the server: his answer is that there is none.
func TestMySQLCancelledClaimHasNoReply(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	p := mysqlClaim(randomKey())
	tx := holdKey(t, db, p.Key)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { _, err := s.Claim(ctx, p); answered <- err }()
	waitForClaim(t, db)
	cancel()
	if err := <-answered; !errors.Is(err, semel.ErrNoReply) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want no reply, since the caller left", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	// The abandoned insert may have appeared meanwhile. Its token frees it.
	_, err := s.Finish(t.Context(), semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Unrun: true, Retention: time.Hour})
	if err != nil && !errors.Is(err, semel.ErrFenced) {
		t.Error(err)
	}
}
