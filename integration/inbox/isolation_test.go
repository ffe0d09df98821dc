package inbox

import (
	"context"
	"database/sql"
	"testing"

	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/integration/internal/engines"
)

// The levels above READ COMMITTED see a snapshot, in which the record of a transaction
// that committed meanwhile is not: the duplicate begins again, and replays.
func TestIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			within(t, servers(), []rule{
				{name: "a waiting duplicate replays", run: func(t *testing.T, f *fixture) { isolatedWaiter(t, f, level) }},
				{name: "the work has the level", run: func(t *testing.T, f *fixture) { hasLevel(t, f, level) }, free: true},
			})
		})
	}
}

func isolatedWaiter(t *testing.T, f *fixture, level sql.IsolationLevel) {
	told := newEvents()
	h := hold(t, f.box(t, &inbox.Options{Isolation: level}), opOf("w"), "w")
	second := start(t.Context(), f.box(t, &inbox.Options{Isolation: level, Observer: told}), opOf("w"), withdrawing("w", 1))
	told.blocked(t)
	if err := h.end(nil); err != nil {
		t.Error(err)
	}
	if got := <-second; got.err != nil || !got.res.Replayed {
		t.Errorf("the duplicate: %+v; want a replay", got)
	}
}

// hasLevel: what another transaction commits in the middle of the work is seen under
// READ COMMITTED alone.
func hasLevel(t *testing.T, f *fixture, level sql.IsolationLevel) {
	b := f.box(t, &inbox.Options{Isolation: level})
	_, err := b.do(t.Context(), opOf("l"), func(ctx context.Context, tx execer) (receipt, error) {
		if _, err := tx.number(ctx, "SELECT COUNT(*) FROM other"); err != nil {
			return receipt{}, err
		}
		if level == sql.LevelSerializable && !f.world.aborts {
			return receipt{}, nil // its reads lock: nobody commits meanwhile
		}
		if _, err := f.db.ExecContext(ctx, "INSERT INTO other (id) VALUES (1)"); err != nil {
			return receipt{}, err
		}
		seen, err := tx.number(ctx, "SELECT COUNT(*) FROM other")
		if seen != btoi(level == sql.LevelReadCommitted) {
			t.Errorf("the work sees %d rows of another transaction", seen)
		}
		return receipt{}, err
	})
	if err != nil {
		t.Error(err)
	}
}

// Transactions behind a pooler run on any connection, so nothing may be left in one.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	bouncer := engines.Postgres(t).Bouncer(t)
	through := func(t *testing.T) (dsn, addr string) {
		t.Helper()
		direct := engines.Postgres(t).Database(t)
		quickDeadlocks(t, direct)
		return engines.Through(direct, bouncer.Addr()), bouncer.Addr()
	}
	exec := func(t *testing.T) (dsn, addr string) {
		t.Helper()
		dsn, addr = through(t)
		return dsn + "&default_query_exec_mode=exec", addr
	}
	binary := func(t *testing.T) (dsn, addr string) {
		t.Helper()
		dsn, addr = through(t)
		return dsn + "&binary_parameters=yes", addr
	}
	within(t, []world{
		{name: "pgxpool", dsn: through, on: poolFixture, aborts: true},
		{name: "pgxpool, exec", dsn: exec, on: poolFixture, aborts: true},
		{name: "postgres-pgx", dsn: exec, on: postgresFixture("pgx"), aborts: true},
		{name: "postgres-pq", dsn: binary, on: postgresFixture("postgres"), aborts: true},
	}, []rule{
		{name: "a duplicate replays", run: replays},
		{name: "Final undoes the effects and is replayed", run: final},
		{name: "a waiting duplicate replays", run: waiterReplays},
		{name: "one that does not wait is told at once", run: noWait},
		{name: "a released record is taken over", run: released},
		{name: "settings of the transaction are left alone", run: markLeavesSettings, free: true},
		{name: "64 workers, deadlocks", run: func(t *testing.T, f *fixture) { crowd(t, f, sql.LevelDefault, bothAccounts) }},
	})
}

// quickDeadlocks lets a database find deadlocks at once; 1s is the default.
func quickDeadlocks(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 20', current_database()); END $$")
	if err != nil {
		t.Fatal(err)
	}
}
