package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/sqlstore"
)

func openPgx(t testing.TB, dsn string, o *pgxstore.Options) *pgxstore.Store {
	t.Helper()
	s, err := pgxstore.New(t.Context(), openPool(t, dsn), o)
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

func openSQL(t testing.TB, db *sql.DB, o *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.NewPostgres(t.Context(), db, o)
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

// claimed claims a new key.
func claimed(t testing.TB, s semel.Store, key semel.KeyID) (semel.Token, semel.Fence) {
	t.Helper()
	p := claimOf(key)
	res, err := s.Claim(t.Context(), p)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		t.Fatalf("Claim: %v, %v; want acquired", res.Outcome, err)
	}
	return p.Token, res.Record.Fence
}

func claimOf(key semel.KeyID) semel.ClaimParams {
	return semel.ClaimParams{Key: key, Token: semel.NewToken(), Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour}
}

func doneOf(key semel.KeyID, token semel.Token) semel.FinishParams {
	return semel.FinishParams{
		Key: key, Token: token, State: semel.StateDone, Retention: time.Hour,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte("result")},
	}
}

// soon is less than a waiter waits before it looks for itself.
const soon = 1500 * time.Millisecond

// waits begins to wait, and answers when the wait is over: nil, or the context's end.
func waits(t testing.TB, s semel.ChangeWaiter, key semel.KeyID, fence semel.Fence) <-chan error {
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	go func() {
		defer cancel()
		_, err := s.WaitChange(ctx, semel.WaitParams{Key: key, Fence: fence})
		done <- err
	}()
	return done
}

// marked returns when the record is marked as waited for.
func marked(t testing.TB, admin *sql.DB, key semel.KeyID) {
	t.Helper()
	for waited := false; !waited; {
		if err := admin.QueryRowContext(t.Context(), "SELECT waited FROM semel_record WHERE key = $1::uuid", key.String()).Scan(&waited); err != nil {
			t.Fatal(err)
		}
	}
}

// listener listens as any client can.
func listener(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "LISTEN semel_changed"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func wantNotified(t testing.TB, conn *pgx.Conn, key semel.KeyID) {
	t.Helper()
	n, err := conn.WaitForNotification(t.Context())
	if err != nil || n.Payload != key.String() {
		t.Fatalf("notification %+v, %v; want of %s", n, err, key)
	}
}

// A run that ends in one process, through one package, wakes who waits in another one,
// through another package.
func TestWaitersOfAllProcessesAreTold(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin := openDB(t, "pgx", dsn)
	waiter := openPgx(t, dsn, nil)
	for name, owner := range map[string]semel.Store{
		"pgxstore": openPgx(t, dsn, nil), "stdlib": openSQL(t, admin, nil), "libpq": openSQL(t, openDB(t, "postgres", dsn), nil), "itself": waiter,
	} {
		key := semel.KeyID{name[0]}
		token, fence := claimed(t, owner, key)
		done := waits(t, waiter, key, fence)
		marked(t, admin, key)
		if _, err := owner.Finish(t.Context(), doneOf(key, token)); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: the waiter was not told: %v", name, err)
		}
	}
}

// Notifications take a lock that all of them share: runs that nobody waits for send
// none, and the commit of a run never contains one.
func TestOnlyWaitedRunsNotify(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	store, admin := openPgx(t, dsn, nil), openDB(t, "pgx", dsn)
	conn := listener(t, dsn)
	quiet, loud := semel.KeyID{1}, semel.KeyID{2}
	for _, key := range []semel.KeyID{quiet, loud} {
		token, fence := claimed(t, store, key)
		if key == loud {
			waits(t, store, key, fence)
			marked(t, admin, key)
		}
		if _, err := store.Finish(t.Context(), doneOf(key, token)); err != nil {
			t.Fatal(err)
		}
	}
	wantNotified(t, conn, loud)
	// The next run of a key begins without waiters.
	token, fence := claimed(t, store, semel.KeyID{3})
	waits(t, store, semel.KeyID{3}, fence)
	marked(t, admin, semel.KeyID{3})
	release := semel.FinishParams{Key: semel.KeyID{3}, Token: token, State: semel.StateReleased, Retention: time.Hour}
	if _, err := store.Finish(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	wantNotified(t, conn, semel.KeyID{3})
	again := claimOf(semel.KeyID{3})
	if res, err := store.Claim(t.Context(), again); err != nil || res.Outcome != semel.ClaimAcquired {
		t.Fatalf("claim of a released record: %v, %v", res.Outcome, err)
	}
	if _, err := store.Finish(t.Context(), doneOf(again.Key, again.Token)); err != nil {
		t.Fatal(err)
	}
	claimedAndEnded(t, store, admin, semel.KeyID{4})
	wantNotified(t, conn, semel.KeyID{4})
}

// claimedAndEnded runs a key that somebody waits for.
func claimedAndEnded(t testing.TB, store *pgxstore.Store, admin *sql.DB, key semel.KeyID) {
	t.Helper()
	token, fence := claimed(t, store, key)
	waits(t, store, key, fence)
	marked(t, admin, key)
	if _, err := store.Finish(t.Context(), doneOf(key, token)); err != nil {
		t.Fatal(err)
	}
}

// A decision of an operator is a change too.
func TestResolveNotifies(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	store, admin := openPgx(t, dsn, nil), openDB(t, "pgx", dsn)
	conn := listener(t, dsn)
	key := semel.KeyID{1}
	_, fence := claimed(t, store, key)
	waits(t, store, key, fence)
	marked(t, admin, key)
	if err := advance(t.Context(), admin, "semel_", 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	p := semel.ResolveParams{Key: key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDidNotHappen, Retention: time.Hour}
	if res, err := store.Resolve(t.Context(), p); err != nil || !res.Resolved {
		t.Fatalf("Resolve: %+v, %v", res, err)
	}
	wantNotified(t, conn, key)
}

// A connection that listens and breaks wakes those who wait, so that nothing is missed,
// and the next one who waits opens another.
func TestListeningConnectionBreaks(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	store, admin := openPgx(t, dsn, nil), openDB(t, "pgx", dsn)
	key := semel.KeyID{1}
	token, fence := claimed(t, store, key)
	for range 2 {
		done := waits(t, store, key, fence)
		marked(t, admin, key)
		exec(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'")
		if err := <-done; err != nil {
			t.Errorf("the wait after its connection broke: %v; want an early return", err)
		}
		exec(t, admin, "UPDATE semel_record SET waited = false")
	}
	done := waits(t, store, key, fence)
	marked(t, admin, key)
	if _, err := store.Finish(t.Context(), doneOf(key, token)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the wait on another connection: %v", err)
	}
}

// Close ends the connection that listens, and those who wait.
func TestCloseEndsTheListeningConnection(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin := openDB(t, "pgx", dsn)
	store, err := pgxstore.New(t.Context(), openPool(t, dsn), nil)
	if err != nil {
		t.Fatal(err)
	}
	key := semel.KeyID{1}
	_, fence := claimed(t, store, key)
	done := waits(t, store, key, fence)
	marked(t, admin, key)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; errors.Is(err, context.DeadlineExceeded) {
		t.Error("the wait went on after Close")
	}
	if _, err := store.WaitChange(t.Context(), semel.WaitParams{Key: key, Fence: fence}); !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("a wait after Close: %v; want unavailable", err)
	}
	for listening := 1; listening > 0; {
		const count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
		if err := admin.QueryRowContext(t.Context(), count).Scan(&listening); err != nil {
			t.Fatal(err)
		}
	}
}

// Behind a pooler nothing can listen, unless the store is told how to pass it by.
func TestNoListeningThroughAPooler(t *testing.T) {
	t.Parallel()
	server := engines.Postgres(t)
	direct := server.Database(t)
	pooled := engines.Through(direct, server.Bouncer(t).Addr())
	store := openPgx(t, pooled, nil)
	key := semel.KeyID{1}
	_, fence := claimed(t, store, key)
	if _, err := store.WaitChange(t.Context(), semel.WaitParams{Key: key, Fence: fence}); !errors.Is(err, semel.ErrUnsupported) {
		t.Errorf("WaitChange: %v; want unsupported", err)
	}
}
