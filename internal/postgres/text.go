package postgres

import (
	"fmt"
	"strings"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// Text are the statements for tables with one prefix. Each is one atomic step, in
// a transaction of its own or in one of the caller's.
type Text struct {
	// A claim: of a new key; of one that may be new, telling of the record that is there;
	// the same for a batch; of a record that is there.
	insertNew, insert, insertMany, retake string
	// An owner's transitions: for one key; for a batch; for one key, with the record
	// as the answer, which says why it did not move.
	finish, finishMany, finishWhy             string
	done, doneMany, doneWhy                   string // a finish with done, most of all
	renew, renewMany, renewWhy                string
	checkpoint, checkpointMany, checkpointWhy string

	read, list       string
	resolve, forget  string
	purge, purgeLeft string
	await, notify    string
	channel          string // of notifications
	settings, rights string
}

// Wait is for how long a statement waits for a row that another transaction holds, in
// milliseconds. It is the first parameter of every statement that writes.
//
// set_config is evaluated once, before the first row, and holds until the end of the
// transaction: no state is left in a session, which may be somebody else's next.
type Wait string

// clock is the server's clock in microseconds. It is evaluated anew wherever it
// stands, after the row is locked.
const clock = `(date_part('epoch', clock_timestamp()) * 1000000)::bigint`

// The conditions of the contract's table, and what else the statements share.
var conditions = []string{
	"{clock}", clock,
	"{never}", fmt.Sprint(sqlrecord.Never),
	"{zero}", "'00000000000000000000000000000000'::uuid",
	// gone: expired, which counts as none.
	"{gone}", "(r.expires_at <= " + clock + " AND (r.state IN (2, 3) OR r.state = 1 AND r.policy = 1 AND r.lease_until <= " + clock + "))",
	// free: released, or lapsed under AtLeastOnce.
	"{free}", "(r.state = 2 OR r.state = 1 AND r.policy = 1 AND r.lease_until <= " + clock + ")",
	// doubt: in doubt, written down or by lapse.
	"{doubt}", "(r.state = 4 OR r.state = 1 AND r.policy = 2 AND r.lease_until <= " + clock + ")",
	// unexpired: not gone, of a record that is running or in doubt.
	"{unexpired}", "(r.state <> 1 OR r.policy <> 1 OR greatest(r.expires_at, r.lease_until) > " + clock + ")",
	// alive: running under a live lease.
	"{alive}", "(r.state = 1 AND r.lease_until > " + clock + ")",
	// bounded: limits the wait for a row that another transaction holds, see Wait.
	"{bounded}", "(SELECT set_config('lock_timeout', $1::text, true)) IS NOT NULL",
	// columns: of a record, in the order of sqlrecord.Row.Fields, and readable by every driver.
	"{columns}", columnsOf(nil),
	// listed: the same, without the result.
	"{listed}", columnsOf(map[string]string{"result": "NULL::bytea"}),
	// fresh: the same for a record that this statement made; the caller knows the rest.
	"{fresh}", columnsOf(map[string]string{
		"key": "''::bytea", "format": "1::smallint", "state": "1::smallint", "policy": "1::smallint", "token": "''::bytea",
		"attempt": "1", "lease_until": "0::bigint", "expires_at": "0::bigint", "doubt_since": "0::bigint", "cause": "0::smallint",
		"fingerprint": "''::bytea", "scope_id": "''::bytea", "operation": "''::bytea", "key_text": "''::bytea", "result_kind": "0::smallint",
		"result": "NULL::bytea", "checkpoint": "NULL::bytea",
	}),
}

// columnsOf lists the columns of r, some of them replaced.
func columnsOf(instead map[string]string) string {
	names := strings.Split(sqlrecord.Columns, ", ")
	for i, name := range names {
		switch other, ok := instead[name]; {
		case ok:
			names[i] = other
		case name == "key", name == "token":
			names[i] = "uuid_send(r." + name + ")"
		default:
			names[i] = "r." + name
		}
	}
	return strings.Join(names, ", ")
}

// NewText returns the statements for tables with this prefix.
func NewText(prefix string) *Text {
	fill := strings.NewReplacer(conditions...)
	x := func(text string) string {
		return strings.ReplaceAll(fill.Replace(text), sqlrecord.DefaultPrefix, prefix)
	}
	return &Text{
		insertNew: x(textNew), insert: x(textInsert), insertMany: x(textInsertMany), retake: x(textTake),
		finish: x(textFinish + "r.waited"), finishMany: x(textFinishMany), finishWhy: x(explained(textFinish)),
		done: x(textDone + "r.waited"), doneMany: x(textDoneMany), doneWhy: x(explained(textDone)),
		renew: x(textRenew + "r.waited"), renewMany: x(textRenewMany), renewWhy: x(explained(textRenew)),
		checkpoint: x(textCheckpoint + "r.waited"), checkpointMany: x(textCheckpointMany), checkpointWhy: x(explained(textCheckpoint)),
		read: x(textSelect), list: x(textList),
		resolve: x(explained(textResolve)), forget: x(explained(textDelete)),
		purge: x(textPurge), purgeLeft: x(textPurgeLeft),
		await: x(textAwait), notify: textNotify, channel: prefix + "changed",
		settings: textSettings, rights: x(textRights),
	}
}
