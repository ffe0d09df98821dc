package engines

import (
	"fmt"
	"testing"
)

// StandbyServer is a streaming replica of a [PostgresServer], read-only until it is
// promoted. Its DSNs are the primary's [Through] its own Addr.
type StandbyServer struct {
	*PostgresServer
	primary *PostgresServer
}

// Standby starts a replica, which ends with the test. It is asynchronous; the
// primary's Set("synchronous_standby_names", "*") makes it synchronous.
func (p *PostgresServer) Standby(t testing.TB) *StandbyServer {
	t.Helper()
	return private(t, p.startStandby)
}

func (p *PostgresServer) startStandby(g *group) (*StandbyServer, error) {
	backup, err := postgresEngine().program("pg_basebackup")
	if err != nil {
		return nil, err
	}
	copied, err := newPostgres(g, p.password)
	if err != nil {
		return nil, err
	}
	copied.name += " standby"
	err = g.run(copied.dir, backup, "--dbname", p.URL(), "--pgdata", copied.data,
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	if err != nil {
		return nil, err
	}
	if err := copied.configure(""); err != nil {
		return nil, err
	}
	return &StandbyServer{PostgresServer: copied, primary: p}, g.start(copied.instance)
}

// CatchUp waits until the standby shows all that the primary has committed.
func (s *StandbyServer) CatchUp(t testing.TB) {
	t.Helper()
	s.fault(t, func() error {
		var at string
		if err := s.primary.query("SELECT pg_current_wal_lsn()::text", &at); err != nil {
			return err
		}
		return s.until(fmt.Sprintf("SELECT pg_last_wal_replay_lsn() >= '%s'", at))
	})
}

// Cut ends the replication: what the primary commits from now on, the standby never
// gets. It is for a standby that is to be promoted.
func (s *StandbyServer) Cut(t testing.TB) {
	t.Helper()
	s.fault(t, func() error {
		if err := s.set("primary_conninfo", ""); err != nil {
			return err
		}
		return s.until("SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
	})
}

// Promote makes the standby a primary, and returns when it can be written to. A
// primary that still runs is not told.
func (s *StandbyServer) Promote(t testing.TB) {
	t.Helper()
	s.fault(t, func() error { return s.until("SELECT pg_promote(true, 60)") })
}
