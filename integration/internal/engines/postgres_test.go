package engines

import (
	"database/sql"
	"testing"
)

// A session that computes looks up from its work too seldom to see that the server has
// gone.
func TestKillEndsBusySessions(t *testing.T) {
	t.Parallel()
	pg := NewPostgres(t, nil)
	db := open(t, "pgx", pg.URL())
	ended := make(chan error, 1)
	go func() {
		_, err := db.Exec("SELECT count(*) FROM generate_series(1, 1000000000) AS busy")
		ended <- err
	}()
	if err := pg.until("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE '%AS busy' AND state = 'active')"); err != nil {
		t.Fatal(err)
	}
	pg.Kill(t)
	if err := <-ended; err == nil {
		t.Error("the query went on to its end")
	}
}

func TestStandbyIsPromoted(t *testing.T) {
	t.Parallel()
	pg := NewPostgres(t, nil)
	standby := pg.Standby(t)
	dsn := pg.Database(t)
	primary, replica := open(t, "pgx", dsn), open(t, "pgx", Through(dsn, standby.Addr()))
	execute(t, primary, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
	standby.CatchUp(t)
	if got := number(t, replica, "SELECT count(*) FROM t"); got != 1 {
		t.Errorf("the standby has %d rows after it caught up, want 1", got)
	}
	if _, err := replica.Exec("INSERT INTO t VALUES (2)"); err == nil {
		t.Error("the standby could be written to before it was promoted")
	}

	standby.Cut(t)
	execute(t, primary, "INSERT INTO t VALUES (3)")
	pg.Kill(t)
	standby.Promote(t)
	execute(t, replica, "INSERT INTO t VALUES (4)")
	if got := number(t, replica, "SELECT sum(n) FROM t"); got != 1+4 {
		t.Errorf("the rows of the promoted standby add up to %d, want 5: it was cut off before row 3", got)
	}
}

// A commit waits for a synchronous standby.
func TestSynchronousStandby(t *testing.T) {
	t.Parallel()
	pg := NewPostgres(t, nil)
	standby := pg.Standby(t)
	db := open(t, "pgx", pg.Database(t))
	execute(t, db, "CREATE TABLE t (n int)")
	pg.Set(t, "synchronous_standby_names", "*")
	standby.Pause(t)
	done := make(chan error, 1)
	go func() {
		_, err := db.Exec("INSERT INTO t VALUES (1)")
		done <- err
	}()
	if err := pg.until("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')"); err != nil {
		t.Error(err)
	}
	standby.Resume(t)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	pg := NewPostgres(t, &Options{Settings: map[string]string{"synchronous_commit": "off"}})
	db := open(t, "pgx", pg.URL())
	for setting, want := range map[string]string{"synchronous_commit": "off", "fsync": "on", "full_page_writes": "on"} {
		var got string
		if err := db.QueryRow("SHOW " + setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %s, %v; want %s", setting, got, err, want)
		}
	}
}

// In transaction mode a client's statements move between the server's sessions: two
// clients are served by one session when they take turns, and by two when both are
// inside a transaction.
func TestBouncerServesInTransactionMode(t *testing.T) {
	t.Parallel()
	pg := Postgres(t)
	dsn := Through(pg.Database(t), pg.Bouncer(t).Addr())
	a, b := open(t, "pgx", dsn+"&default_query_exec_mode=exec"), open(t, "postgres", dsn+"&binary_parameters=yes")
	const session = "SELECT pg_backend_pid() WHERE 1 = $1"
	if first, second := backend(t, a, session), backend(t, b, session); first != second {
		t.Errorf("two clients in turn got the sessions %d and %d, want one", first, second)
	}
	tx, err := a.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if first, second := backend(t, tx, session), backend(t, b, session); first == second {
		t.Error("another client was let into the session of an open transaction")
	}
}

// A role that is not the administrator is served as well.
func TestBouncerKnowsRoles(t *testing.T) {
	t.Parallel()
	pg := NewPostgres(t, nil)
	if err := pg.exec("CREATE ROLE app LOGIN PASSWORD 'secret'"); err != nil {
		t.Fatal(err)
	}
	db := open(t, "pgx", "postgres://app:secret@"+pg.Bouncer(t).Addr()+"/postgres?sslmode=disable&default_query_exec_mode=exec")
	var name string
	if err := db.QueryRow("SELECT current_user").Scan(&name); err != nil || name != "app" {
		t.Errorf("got %q, %v", name, err)
	}
}

func backend(t testing.TB, db interface {
	QueryRow(string, ...any) *sql.Row
}, query string) (pid int) {
	t.Helper()
	if err := db.QueryRow(query, 1).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}
