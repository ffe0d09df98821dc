package engines

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"
)

func execute(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// eachServer runs a test on a server of its own of each engine, and an empty database.
func eachServer(t *testing.T, test func(t *testing.T, s *Server, db *sql.DB)) {
	t.Parallel()
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		pg := NewPostgres(t, nil)
		test(t, &pg.Server, open(t, "pgx", pg.Database(t)))
	})
	t.Run("MariaDB", func(t *testing.T) {
		t.Parallel()
		m := NewMariaDB(t, nil)
		test(t, &m.Server, open(t, "mysql", m.Database(t)))
	})
}

// A row that is missing after the restart would be one that was acknowledged.
func TestCommittedRowsOutliveKill(t *testing.T) { eachServer(t, keepsRowsOverKill) }

func keepsRowsOverKill(t *testing.T, s *Server, db *sql.DB) {
	execute(t, db, "CREATE TABLE t (n int PRIMARY KEY)")
	acknowledged, enough := make(chan int, 1), make(chan struct{})
	go func() {
		n := 0
		for ; ; n++ {
			if _, err := db.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d)", n)); err != nil {
				break
			}
			if n == 20 {
				close(enough)
			}
		}
		acknowledged <- n
	}()
	<-enough
	s.Kill(t)
	n := <-acknowledged
	s.Restart(t)
	if got := number(t, db, fmt.Sprintf("SELECT count(*) FROM t WHERE n < %d", n)); got != n {
		t.Errorf("%d rows of %d are left", got, n)
	}
}

// A paused server does not even refuse, and the same connection goes on afterwards.
func TestPausedServerDoesNotAnswer(t *testing.T) { eachServer(t, hangsWhilePaused) }

func hangsWhilePaused(t *testing.T, s *Server, db *sql.DB) {
	db.SetMaxOpenConns(1)
	execute(t, db, "CREATE TABLE t (n int)")
	s.Pause(t)
	answered := make(chan error, 1)
	go func() {
		_, err := db.Exec("INSERT INTO t VALUES (1)")
		answered <- err
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	select {
	case err := <-answered:
		t.Fatalf("a paused server answered: %v", err)
	case <-ctx.Done():
	}
	s.Resume(t)
	if err := <-answered; err != nil {
		t.Errorf("after resuming: %v", err)
	}
}
