package mysql

import (
	"maps"
	"strings"
	"testing"

	"github.com/semel-go/semel"
)

// fitServer is a server in order, with these differences.
func fitServer(differences server) server {
	s := server{
		"version": "8.4.3", "autocommit": "ON", "transaction_isolation": "REPEATABLE-READ", "innodb_flush_log_at_trx_commit": "1",
		"innodb_doublewrite": "ON", "log_bin": "ON", "sync_binlog": "1", "binlog_format": "ROW", "max_allowed_packet": "67108864",
		"innodb_lock_wait_timeout": "1", "read_only": "OFF",
	}
	maps.Copy(s, differences)
	return s
}

func TestUnfitServersAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		differences server
		want        string // in the error; empty: fit
	}{
		{nil, ""},
		{server{"version": "8.0.11"}, ""},
		{server{"version": "9.1.0-commercial"}, ""},
		{server{"version": "10.6.0-MariaDB-log"}, ""},
		{server{"version": "5.5.5-11.4.2-MariaDB"}, ""},
		{server{"version": "12.1-MariaDB"}, ""},
		{server{"version": "5.7.44"}, "8.0 or later"},
		{server{"version": "10.5.23-MariaDB"}, "10.6 or later"},
		{server{"version": "unknown"}, "8.0 or later"},
		{server{"read_only": "ON"}, "connect to the primary"},
		{server{"super_read_only": "1"}, "connect to the primary"},
		{server{"innodb_read_only": "ON"}, "connect to the primary"},
		{server{"transaction_read_only": "ON"}, "connect to the primary"},
		{server{"autocommit": "OFF"}, "autocommit"},
		{server{"transaction_isolation": "READ-UNCOMMITTED"}, "READ UNCOMMITTED"},
		{server{"transaction_isolation": "SERIALIZABLE"}, ""},
		{server{"binlog_format": "STATEMENT"}, "ROW or MIXED"},
		{server{"binlog_format": "STATEMENT", "log_bin": "OFF"}, ""},
	} {
		err := fitServer(c.differences).unfit()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.differences, err, c.want)
		}
	}
}

func TestPromiseGoesByTheSettings(t *testing.T) {
	t.Parallel()
	const yes, no = semel.Yes, semel.No
	for _, c := range []struct {
		name                   string
		differences            server
		register, crash, power semel.Answer
		note                   string
	}{
		{"in order", nil, yes, yes, yes, ""},
		{"flush 2", server{"innodb_flush_log_at_trx_commit": "2"}, yes, yes, no, "innodb_flush_log_at_trx_commit is 2"},
		{"flush 0", server{"innodb_flush_log_at_trx_commit": "0"}, yes, no, no, "crash of the server"},
		{"binary log not synced", server{"sync_binlog": "0"}, yes, yes, no, "sync_binlog is 0"},
		{"no binary log", server{"log_bin": "OFF", "sync_binlog": "0"}, yes, yes, yes, ""},
		{"no doublewrite", server{"innodb_doublewrite": "OFF"}, yes, yes, no, "innodb_doublewrite"},
		{"doublewrite, MySQL's other word", server{"innodb_doublewrite": "DETECT_ONLY"}, yes, yes, no, "innodb_doublewrite"},
		{"nosync", server{"innodb_flush_method": "nosync"}, yes, yes, no, "nosync"},
		{"Galera", server{"wsrep_on": "ON"}, no, yes, yes, "Galera"},
		{"several primaries", server{"group_replication_group_name": "aaaa", "group_replication_single_primary_mode": "OFF"}, no, yes, yes, "several primaries"},
		{"single primary", server{"group_replication_group_name": "aaaa", "group_replication_single_primary_mode": "ON"}, yes, yes, yes, ""},
		{"read-only since the start", server{"read_only": "ON"}, no, yes, yes, "read-only"},
		{"long waits", server{"innodb_lock_wait_timeout": "50"}, yes, yes, yes, "innodb_lock_wait_timeout=1"},
		{"MariaDB bounds its waits", server{"version": "10.11.6-MariaDB", "innodb_lock_wait_timeout": "50"}, yes, yes, yes, ""},
		{"small packets", server{"max_allowed_packet": "1048576"}, yes, yes, yes, "max_allowed_packet"},
		{"timeouts roll back", server{"innodb_rollback_on_timeout": "ON"}, yes, yes, yes, "innodb_rollback_on_timeout"},
	} {
		g := fitServer(c.differences).promise()
		if g.SingleRegister != c.register || g.SurvivesEngineCrash != c.crash || g.SurvivesPowerLoss != c.power || g.SurvivesFailover != no {
			t.Errorf("%s: %+v", c.name, g)
		}
		notes := strings.Join(g.Notes, "\n")
		if (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q; want %q", c.name, notes, c.note)
		}
	}
}
