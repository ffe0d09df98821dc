package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// server is what a server says of itself and of the session that asked: system
// variables by name, in lower case.
type server map[string]string

// variables are asked for with one statement; a server leaves out those that it does
// not have.
const variables = `SHOW VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'autocommit', 'transaction_isolation', 'tx_isolation',
	'read_only', 'super_read_only', 'innodb_read_only', 'transaction_read_only', 'tx_read_only', 'innodb_flush_log_at_trx_commit',
	'innodb_doublewrite', 'innodb_flush_method', 'log_bin', 'binlog_format', 'sync_binlog', 'wsrep_on', 'wsrep_provider', 'group_replication_group_name',
	'group_replication_single_primary_mode', 'innodb_lock_wait_timeout', 'innodb_rollback_on_timeout', 'max_allowed_packet')`

func askServer(ctx context.Context, db *sql.DB) (_ server, err error) {
	rows, err := db.QueryContext(ctx, variables)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	s := make(server)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		s[strings.ToLower(name)] = value
	}
	return s, rows.Err()
}

func (s server) mariadb() bool { return strings.Contains(strings.ToLower(s["version"]), "mariadb") }

func (s server) on(name string) bool {
	switch strings.ToUpper(s[name]) {
	case "", "0", "OFF", "NO":
		return false
	}
	return true
}

func (s server) isolation() string {
	if i, ok := s["transaction_isolation"]; ok {
		return i
	}
	return s["tx_isolation"]
}

var versionForm = regexp.MustCompile(`^(?:5\.5\.5-)?(\d+)\.(\d+)`) // MariaDB puts 5.5.5- before its own, for old clients

// version is that of the server's own kind; 0 if it cannot be read.
func (s server) version() (major, minor int) {
	if m := versionForm.FindStringSubmatch(s["version"]); m != nil {
		major, _ = strconv.Atoi(m[1]) // digits, by the pattern
		minor, _ = strconv.Atoi(m[2])
	}
	return major, minor
}

// maxText is the size of a statement for a batch, well below what the server takes.
func (s server) maxText() int {
	packet, err := strconv.Atoi(s["max_allowed_packet"])
	if err != nil {
		return 1 << 18
	}
	return min(packet/4, 1<<20)
}

// packetRoom is what a statement that carries a result needs beside it.
const packetRoom = 1 << 10

// maxResult is the size of results that the server takes. It hangs up at the beginning of
// one that is larger, which looks like a lost reply whenever it is tried.
func (s server) maxResult() int {
	packet, err := strconv.Atoi(s["max_allowed_packet"])
	if err != nil {
		return math.MaxInt
	}
	return packet - packetRoom
}

// admit refuses a server on which the store can never work.
func admit(ctx context.Context, db *sql.DB) (server, error) {
	s, err := askServer(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: the server does not tell its settings: %w", err)
	}
	return s, s.unfit()
}

func (s server) unfit() error {
	major, minor := s.version()
	switch {
	case s.mariadb() && (major < 10 || major == 10 && minor < 6):
		return fmt.Errorf("sqlstore: MariaDB %s has no SKIP LOCKED; use 10.6 or later", s["version"])
	case !s.mariadb() && major < 8:
		return fmt.Errorf("sqlstore: MySQL %s has no SKIP LOCKED; use 8.0 or later", s["version"])
	case s.isReadOnly():
		return errors.New("sqlstore: the server or the session is read-only, a replica perhaps; connect to the primary")
	case !s.on("autocommit"):
		return errors.New("sqlstore: the connections do not commit by themselves; leave autocommit=0 out of the DSN, or use a pool without it for the store")
	case s.on("log_bin") && s["binlog_format"] == "STATEMENT":
		return errors.New("sqlstore: with binlog_format = STATEMENT the server refuses the purge, which must not lock gaps; use ROW or MIXED")
	case s.isolation() == "READ-UNCOMMITTED":
		return errors.New("sqlstore: READ UNCOMMITTED shows results that may never be committed; use READ COMMITTED or REPEATABLE READ")
	}
	return nil
}

func (s server) isReadOnly() bool {
	return s.on("read_only") || s.on("super_read_only") || s.on("innodb_read_only") || s.on("transaction_read_only") || s.on("tx_read_only")
}

// probeFoundRows asks what the driver counts, by a statement that changes nothing,
// and whether LAST_INSERT_ID(…) gets through to it.
func (s *Store) probeFoundRows(ctx context.Context) (bool, error) {
	sql := s.dialect.expand("UPDATE semel_floor SET fence = IF(LAST_INSERT_ID({now}) > 0, fence, fence) WHERE id = 1")
	d, err := doneOf(s.db.ExecContext(ctx, sql))
	if err != nil {
		return false, unprepared(err)
	}
	if d.id <= 0 {
		return false, errors.New("sqlstore: the value of LAST_INSERT_ID(…) does not come back with a reply; connect without the proxy that drops it")
	}
	return d.rows > 0, nil
}
