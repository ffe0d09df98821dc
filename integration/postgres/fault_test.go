package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"
)

// drivers opens a store with each driver.
var drivers = map[string]func(t testing.TB, dsn string, timeout time.Duration) semel.Store{
	"pgx": func(t testing.TB, dsn string, timeout time.Duration) semel.Store {
		return openPgx(t, dsn, &pgxstore.Options{Timeout: timeout})
	},
	"stdlib": func(t testing.TB, dsn string, timeout time.Duration) semel.Store {
		return openSQL(t, openDB(t, "pgx", dsn), &sqlstore.Options{Timeout: timeout})
	},
	"libpq": func(t testing.TB, dsn string, timeout time.Duration) semel.Store {
		return openSQL(t, openDB(t, "postgres", dsn), &sqlstore.Options{Timeout: timeout})
	},
}

// eachDriver runs a test for each of them, on a database of its own.
func eachDriver(t *testing.T, run func(t *testing.T, dsn string, open func(t testing.TB, dsn string, timeout time.Duration) semel.Store)) {
	t.Parallel()
	server := engines.Postgres(t)
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, server.Database(t), open)
		})
	}
}

// begin opens a transaction that ends with the test at the latest.
func begin(t testing.TB, dsn string) *sql.Tx {
	t.Helper()
	tx, err := openDB(t, "pgx", dsn).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// uncommitted inserts a record in a transaction that stays open.
func uncommitted(t testing.TB, dsn string, key semel.KeyID) *sql.Tx {
	t.Helper()
	tx := begin(t, dsn)
	_, err := tx.ExecContext(t.Context(), `INSERT INTO semel_record (key, token, fence, attempt, lease_until, expires_at, started_at, doubt_since,
		format, state, policy, cause, result_kind, fingerprint, scope_id, operation, key_text)
		VALUES ($1::uuid, $1::uuid, 1, 1, 0, 9223372036854775807, 0, 0, 1, 3, 1, 0, 0, '', '', '', '')`, key.String())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// A business transaction that holds one key keeps no other key waiting, be they in one
// batch, and that key is running, as far as one can know.
func TestHeldRowDelaysOnlyItsKey(t *testing.T) {
	eachDriver(t, func(t *testing.T, dsn string, open func(testing.TB, string, time.Duration) semel.Store) {
		store := open(t, dsn, 0)
		held := semel.KeyID{0xff}
		tx := uncommitted(t, dsn, held)
		var callers sync.WaitGroup
		for n := range 40 {
			callers.Go(func() {
				if res, err := store.Claim(t.Context(), claimOf(semel.KeyID{byte(n)})); err != nil || res.Outcome != semel.ClaimAcquired {
					t.Errorf("claim beside a held key: %v, %v; want acquired", res.Outcome, err)
				}
			})
			callers.Go(func() {
				if res, err := store.Claim(t.Context(), claimOf(held)); err != nil || res.Outcome != semel.ClaimRunning {
					t.Errorf("claim of a held key: %v, %v; want running", res.Outcome, err)
				}
			})
		}
		callers.Wait()
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if res, err := store.Claim(t.Context(), claimOf(held)); err != nil || res.Outcome != semel.ClaimAcquired {
			t.Errorf("claim when the transaction is over: %v, %v; want acquired", res.Outcome, err)
		}
	})
}

// A row that is locked has an answer already where it cannot be claimed; its owner's
// call has not, and says so in time.
func TestLockedRow(t *testing.T) {
	eachDriver(t, func(t *testing.T, dsn string, open func(testing.TB, string, time.Duration) semel.Store) {
		store := open(t, dsn, 0)
		key := semel.KeyID{1}
		token, _ := claimed(t, store, key)
		tx := begin(t, dsn)
		if _, err := tx.ExecContext(t.Context(), "SELECT FROM semel_record FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Finish(t.Context(), doneOf(key, token)); !errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, semel.ErrNoReply) {
			t.Errorf("Finish of a locked row: %v; want unavailable", err)
		}
		other := claimOf(key)
		other.Fingerprint[0] = 9
		if res, err := store.Claim(t.Context(), other); err != nil || res.Outcome != semel.ClaimMismatch {
			t.Errorf("claim of a locked row with another fingerprint: %v, %v; want mismatch", res.Outcome, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Finish(t.Context(), doneOf(key, token)); err != nil {
			t.Errorf("Finish when the lock is gone: %v", err)
		}
	})
}

// Field fault: one duplicate in a batch blames a fresh one. Here a row is refused by
// the database itself.
func TestPoisonedCallFailsAlone(t *testing.T) {
	eachDriver(t, func(t *testing.T, dsn string, open func(testing.TB, string, time.Duration) semel.Store) {
		store := open(t, dsn, 0)
		exec(t, openDB(t, "pgx", dsn), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.key = 'ff000000-0000-0000-0000-000000000000' THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$`,
			"CREATE TRIGGER refuse BEFORE INSERT ON semel_record FOR EACH ROW EXECUTE FUNCTION refuse()")
		var callers sync.WaitGroup
		for n := range 60 {
			callers.Go(func() {
				if res, err := store.Claim(t.Context(), claimOf(semel.KeyID{byte(n)})); err != nil || res.Outcome != semel.ClaimAcquired {
					t.Errorf("claim beside a poisoned one: %v, %v; want acquired", res.Outcome, err)
				}
			})
		}
		_, err := store.Claim(t.Context(), claimOf(semel.KeyID{0xff}))
		if !errors.Is(err, semel.ErrStoreUnavailable) || !strings.Contains(err.Error(), "poison") {
			t.Errorf("the poisoned claim: %v; want unavailable, and the cause", err)
		}
		callers.Wait()
	})
}

// A connection that hangs ends in time, without an answer, and keeps no other call
// from its own.
func TestHungConnectionIsBounded(t *testing.T) {
	eachDriver(t, func(t *testing.T, dsn string, open func(testing.TB, string, time.Duration) semel.Store) {
		proxy := faultproxy.Postgres(t, strings.Split(strings.Split(dsn, "@")[1], "/")[0])
		store := open(t, engines.Through(dsn, proxy.Addr()), 2*time.Second)
		claimed(t, store, semel.KeyID{1})
		hole := proxy.Arm(func(s string) bool { return strings.Contains(s, "INSERT INTO semel_record") }, faultproxy.Blackhole())
		hung := make(chan error, 1)
		go func() {
			_, err := store.Claim(t.Context(), claimOf(semel.KeyID{2}))
			hung <- err
		}()
		<-hole.Fired()
		for n := range 20 {
			claimed(t, store, semel.KeyID{3, byte(n)})
			select {
			case err := <-hung:
				t.Fatalf("the hung claim ended before %d others: %v", 20-n, err)
			default:
			}
		}
		if err := <-hung; !errors.Is(err, semel.ErrNoReply) {
			t.Errorf("the hung claim: %v; want no reply", err)
		}
	})
}

// Field fault: the reply to a claim is lost, the client library re-sends, and the caller
// waits for its own claim. Here lost replies of either kind, to either call, and the
// same token again.
func TestLostReplies(t *testing.T) {
	eachDriver(t, func(t *testing.T, dsn string, open func(testing.TB, string, time.Duration) semel.Store) {
		proxy := faultproxy.Postgres(t, strings.Split(strings.Split(dsn, "@")[1], "/")[0])
		store := open(t, engines.Through(dsn, proxy.Addr()), 0)
		for n, fault := range []faultproxy.Fault{faultproxy.CutReply(), faultproxy.CloseReply(), faultproxy.CutBefore(), faultproxy.Reset()} {
			p := claimOf(semel.KeyID{byte(n)})
			proxy.Arm(func(s string) bool { return strings.Contains(s, "INSERT INTO semel_record") }, fault)
			res, err := store.Claim(t.Context(), p)
			for ; errors.Is(err, semel.ErrNoReply); res, err = store.Claim(t.Context(), p) {
			}
			if err != nil || res.Outcome != semel.ClaimAcquired || !res.Mine || res.Record.Attempt != 1 {
				t.Errorf("fault %d: claim with the same token: %v, attempt %d, %v; want acquired, attempt 1", n, res.Outcome, res.Record.Attempt, err)
			}
			proxy.Arm(func(s string) bool { return strings.Contains(s, "UPDATE semel_record") }, fault)
			_, err = store.Finish(t.Context(), doneOf(p.Key, p.Token))
			for ; errors.Is(err, semel.ErrNoReply); _, err = store.Finish(t.Context(), doneOf(p.Key, p.Token)) {
			}
			if err != nil {
				t.Errorf("fault %d: finish again: %v", n, err)
			}
		}
	})
}

// A commit whose wait for a synchronous standby is cancelled has happened here and
// nowhere else: that is no success.
func TestCancelledWaitForAStandbyIsNoSuccess(t *testing.T) {
	t.Parallel()
	server := engines.NewPostgres(t, nil)
	stores := make(map[string]semel.Store)
	for name, open := range drivers {
		stores[name] = open(t, server.Database(t), 0)
	}
	stores["pgx that cancels"] = openCancelling(t, server.Database(t))
	server.Set(t, "synchronous_standby_names", "nobody")
	defer server.Set(t, "synchronous_standby_names", "")
	for name, store := range stores {
		for isSet := false; !isSet; { // the setting arrives with a signal
			g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
			if err != nil {
				t.Fatal(err)
			}
			isSet = g.SurvivesFailover == semel.Unknown
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		res, err := store.Claim(ctx, claimOf(semel.KeyID{1}))
		cancel()
		if !errors.Is(err, semel.ErrNoReply) {
			t.Errorf("%s: a claim whose commit was cancelled: %v, %v; want no reply", name, res.Outcome, err)
		}
	}
}

// openCancelling opens a store on a pool that asks the server to cancel, as pgx can be
// told to.
func openCancelling(t testing.TB, dsn string) semel.Store {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Minute}
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := pgxstore.New(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A session whose isolation is not READ COMMITTED sees more conflicts, and no other
// answers.
func TestConformanceUnderOtherIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"serializable", "repeatable read"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			dsn := engines.Postgres(t).Database(t)
			isolated := with(t, dsn, "options", "-c default_transaction_isolation="+strings.ReplaceAll(level, " ", `\ `))
			conform(t, openDB(t, "pgx", dsn), onPgx(t, isolated, nil))
		})
	}
}
