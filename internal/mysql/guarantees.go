package mysql

import (
	"context"
	"fmt"
	"strconv"

	"github.com/semel-go/semel"
)

// Guarantees is [semel.Store.Guarantees]. It asks the server for its settings, as
// they are now.
func (s *Store) Guarantees(ctx context.Context, _ semel.GuaranteesParams) (g semel.Guarantees, err error) {
	err = s.reading(ctx, func(ctx context.Context) error {
		now, err := askServer(ctx, s.db)
		if err == nil {
			g = now.promise()
		}
		return err
	})
	if s.foundRows {
		g.Notes = append(g.Notes, "clientFoundRows is set: each claim is read back, which takes a second round trip; leave it out of the DSN for the store.")
	}
	return g, err
}

// promise: a single primary with InnoDB is one register per key. What survives
// depends on what is synced at each commit.
func (s server) promise() semel.Guarantees {
	g := semel.Guarantees{
		Store: "mysql", SingleRegister: semel.Yes, SurvivesProcess: semel.Yes, SurvivesEngineCrash: semel.Yes,
		SurvivesPowerLoss: semel.Yes, SurvivesFailover: semel.No,
		Facts: []string{"Replication is asynchronous or may become so: a replica that is promoted may have forgotten claims and results. The store never reads from one."},
	}
	if s.mariadb() {
		g.Store = "mariadb"
	}
	note := func(bad bool, answer *semel.Answer, becomes semel.Answer, format string, args ...any) {
		if bad {
			*answer = becomes
			g.Notes = append(g.Notes, fmt.Sprintf(format, args...))
		}
	}
	flush := s["innodb_flush_log_at_trx_commit"]
	note(flush != "1", &g.SurvivesPowerLoss, semel.No, "innodb_flush_log_at_trx_commit is %s: a loss of power loses up to some seconds of claims and results; set it to 1.", flush)
	note(flush == "0", &g.SurvivesEngineCrash, semel.No, "With innodb_flush_log_at_trx_commit = 0 a crash of the server loses them, too.")
	note(s.on("log_bin") && s["sync_binlog"] != "1", &g.SurvivesPowerLoss, semel.No, "sync_binlog is %s: a loss of power takes commits back that the binary log has lost; set it to 1.", s["sync_binlog"])
	note(!s.on("innodb_doublewrite") || s["innodb_doublewrite"] == "DETECT_ONLY", &g.SurvivesPowerLoss, semel.No, "innodb_doublewrite is off: a loss of power may leave pages half written; switch it on.")
	note(s["innodb_flush_method"] == "nosync", &g.SurvivesPowerLoss, semel.No, "innodb_flush_method is nosync: nothing is synced.")
	note(s.on("wsrep_on"), &g.SingleRegister, semel.No, "This is a Galera cluster: two nodes can both accept a claim of one key before one of them is rolled back, and reads may be stale. There is no promise here; use a single primary.")
	note(s.groupOfMany(), &g.SingleRegister, semel.No, "Group replication runs with several primaries: reads may be stale and claims are rolled back late. There is no promise here; set group_replication_single_primary_mode = ON.")
	note(s.isReadOnly(), &g.SingleRegister, semel.No, "The server is read-only now: it is a replica. Connect to the primary.")
	var works semel.Answer
	note(s.longLockWait(), &works, works, "innodb_lock_wait_timeout is %s s in the store's sessions: a batch that meets an uncommitted transaction on one of its keys waits for it as long as the store's timeout allows; set innodb_lock_wait_timeout=1 in the DSN of the store.", s["innodb_lock_wait_timeout"])
	note(s.on("innodb_rollback_on_timeout"), &works, works, "innodb_rollback_on_timeout is on: a Mark that waits too long for its key takes its caller's transaction with it; switch it off.")
	note(s.maxText() < 1<<19, &works, works, "max_allowed_packet is %s: larger results become tombstones; use 16M or more.", s["max_allowed_packet"])
	return g
}

func (s server) groupOfMany() bool {
	return s["group_replication_group_name"] != "" && !s.on("group_replication_single_primary_mode")
}

// longLockWait reports a server that knows no bound for a single statement, with a
// session that waits long.
func (s server) longLockWait() bool {
	seconds, err := strconv.Atoi(s["innodb_lock_wait_timeout"])
	return !s.mariadb() && (err != nil || seconds > 2)
}
