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

// keepsRowsOverKill kills the server while rows are being inserted, and finds all that
// were acknowledged after the restart.
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

// hangsWhilePaused finds that a paused server does not even refuse, and that the same
// connection goes on afterwards.
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
