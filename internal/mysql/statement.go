package mysql

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// statement numbers the prepared statements of the store.
type statement int

const (
	stmtInsert statement = iota
	stmtSelect
	stmtLock
	stmtOwn
	stmtSpend
	stmtTake
	stmtRenew
	stmtFinish
	stmtDone
	stmtFill
	stmtCheckpoint
	stmtResolve
	stmtDelete
	stmtFloor
	stmtPurgeLeft
	stmtList
	statements
)

// text is a statement as a server gets it: its parameters have no numbers there,
// so order says which one stands at each place.
type text struct {
	sql   string
	order []int
}

// dialect writes statements for one server and one prefix.
type dialect struct {
	prefix string
	// lockWait begins a statement whose wait for a row is bounded. MySQL has nothing
	// of the kind: there, the setting of the session counts.
	lockWait string
}

func newDialect(prefix string, mariadb bool) dialect {
	d := dialect{prefix: prefix}
	if mariadb {
		d.lockWait = lockWaitClause(lockWaitSeconds)
	}
	return d
}

func lockWaitClause(seconds int) string {
	return "SET STATEMENT innodb_lock_wait_timeout = " + strconv.Itoa(seconds) + " FOR "
}

// statements are the texts of all statements.
func (d dialect) statements() *[statements]text {
	var all [statements]text
	for i, sql := range [statements]string{
		stmtInsert: insertRecord, stmtSelect: selectRecord, stmtLock: lockRecord, stmtOwn: ownRecord, stmtSpend: spendRecord,
		stmtTake: takeRecord, stmtRenew: renewRecord, stmtFinish: finishRecord, stmtDone: doneRecord, stmtFill: fillRecord, stmtCheckpoint: checkpointRecord,
		stmtResolve: resolveRecord, stmtDelete: deleteRecord, stmtFloor: selectFloor, stmtPurgeLeft: selectPurgeLeft,
		stmtList: listRecords,
	} {
		all[i] = positional(d.expand(sql))
	}
	return &all
}

// conditions are what stands in braces: the clock, and the conditions of the
// contract's table, as docs/stores-protocol.md defines them.
var conditions = strings.NewReplacer(
	// readable: of the format that this version knows.
	"{readable}", "r.format = 1",
	// gone: expired, which counts as none.
	"{gone}", "(r.expires_at <= "+clock+" AND (r.state IN (2, 3) OR r.state = 1 AND r.policy = 1 AND r.lease_until <= "+clock+"))",
	// free: released, or lapsed under AtLeastOnce.
	"{free}", "(r.state = 2 OR r.state = 1 AND r.policy = 1 AND r.lease_until <= "+clock+")",
	// doubt: in doubt, written down or by lapse.
	"{doubt}", "(r.state = 4 OR r.state = 1 AND r.policy = 2 AND r.lease_until <= "+clock+")",
	// alive: running under a live lease.
	"{alive}", "(r.state = 1 AND r.lease_until > "+clock+")",
	// mine: the caller's token; the zero token owns nothing.
	"{mine}", "(r.token = ?2 AND r.token <> "+zeroToken+")",
	"{now}", clock,
	"{zero}", zeroToken,
	"{columns}", "`"+strings.Replace(sqlrecord.Columns, ",", "`,", 1),
)

// clock is the server's clock in microseconds: fixed for a statement, from its
// start on, and independent of time zones.
const clock = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))"

const zeroToken = "x'00000000000000000000000000000000'"

func (d dialect) expand(sql string) string {
	sql = conditions.Replace(sql)
	sql = strings.ReplaceAll(sql, sqlrecord.DefaultPrefix, d.prefix)
	return strings.ReplaceAll(sql, "{bounded} ", d.lockWait)
}

var numbered = regexp.MustCompile(`\?([0-9]+)`)

// positional takes the numbers of parameters out of a statement.
func positional(sql string) text {
	t := text{}
	t.sql = numbered.ReplaceAllStringFunc(sql, func(s string) string {
		n, _ := strconv.Atoi(s[1:]) // digits, by the pattern
		t.order = append(t.order, n-1)
		return "?"
	})
	return t
}

// args puts numbered parameters in the order of their places.
func (t text) args(numbered []any) []any {
	args := make([]any, len(t.order))
	for i, n := range t.order {
		args[i] = numbered[n]
	}
	return args
}
