package sqlite

import (
	"strings"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// The statements of the SQLite dialect. ?1 is always the time of the batch. Each
// runs inside BEGIN IMMEDIATE, so that nobody else writes between two of them;
// each is conditional all the same, so that the rules stand in one place.
//
// In braces are the conditions of the contract's table; expand fills them in.
var sqliteConditions = strings.NewReplacer(
	// readable: of the format that this version knows.
	"{readable}", "r.format = 1",
	// gone: expired, which counts as none.
	"{gone}", "(r.expires_at <= ?1 AND (r.state IN (2, 3) OR r.state = 1 AND r.policy = 1 AND r.lease_until <= ?1))",
	// free: released, or lapsed under AtLeastOnce.
	"{free}", "(r.state = 2 OR r.state = 1 AND r.policy = 1 AND r.lease_until <= ?1)",
	// doubt: in doubt, written down or by lapse.
	"{doubt}", "(r.state = 4 OR r.state = 1 AND r.policy = 2 AND r.lease_until <= ?1)",
	// alive: running under a live lease.
	"{alive}", "(r.state = 1 AND r.lease_until > ?1)",
	// mine: the caller's token; the zero token owns nothing.
	"{mine}", "(r.token = nullif(?3, zeroblob(16)))",
)

func expand(sql, prefix string) string {
	return strings.ReplaceAll(sqliteConditions.Replace(sql), sqlrecord.DefaultPrefix, prefix)
}

// sqliteInsert claims a key that has no record. It is most of all claims, and has
// nothing to read back.
//
// ?2 key ?3 token ?4 state ?5 policy ?6 lease_until ?7 expires_at ?8 fingerprint
// ?9 scope_id ?10 operation ?11 key_text ?12 result_kind ?13 fence
const sqliteInsert = `
INSERT INTO semel_record (` + sqlrecord.Columns + `)
VALUES (?2, 1, ?4, ?5, ?3, ?13, 1, ?6, ?7, ?1, 0, 0, ?8, ?9, ?10, ?11, ?12, NULL, NULL)
ON CONFLICT (key) DO NOTHING`

// sqliteClaim moves a record that is there, by the branches of the protocol: gone,
// own (running with the caller's token), spent (attempts used up), taken, recovered.
// No row comes back when none applies, which [sqlrecord.Unclaimed] has ruled out.
//
// ?2 to ?13 as above ?14 max attempts ?15 recovering
const sqliteClaim = `
UPDATE semel_record AS r SET
	(state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause,
	 fingerprint, scope_id, operation, key_text, result_kind, result, checkpoint) = (
	SELECT
		CASE branch WHEN 'own' THEN 1 WHEN 'spent' THEN 4 ELSE ?4 END,
		CASE WHEN branch IN ('own', 'spent') THEN r.policy WHEN branch = 'recovered' THEN 2 ELSE ?5 END,
		CASE WHEN branch <> 'spent' THEN ?3 WHEN r.state = 2 THEN zeroblob(16) ELSE r.token END,
		CASE WHEN branch IN ('own', 'spent') THEN r.fence ELSE max(r.fence + 1, ?1) END,
		CASE WHEN branch IN ('own', 'spent') THEN r.attempt WHEN branch = 'gone' THEN 1 ELSE r.attempt + 1 END,
		CASE branch WHEN 'spent' THEN r.lease_until ELSE ?6 END,
		CASE WHEN branch IN ('own', 'spent') THEN r.expires_at ELSE ?7 END,
		CASE WHEN branch IN ('gone', 'taken') THEN ?1 ELSE r.started_at END,
		CASE branch WHEN 'own' THEN r.doubt_since WHEN 'spent' THEN ?1
			WHEN 'recovered' THEN iif(r.cause <> 0, r.doubt_since, r.lease_until) ELSE 0 END,
		CASE branch WHEN 'own' THEN r.cause WHEN 'spent' THEN 2
			WHEN 'recovered' THEN iif(r.cause <> 0, r.cause, 1) ELSE 0 END,
		?8,
		CASE branch WHEN 'gone' THEN ?9 ELSE r.scope_id END,
		CASE branch WHEN 'gone' THEN ?10 ELSE r.operation END,
		CASE branch WHEN 'gone' THEN ?11 ELSE r.key_text END,
		?12,
		NULL,
		CASE WHEN branch = 'gone' OR branch IN ('taken', 'recovered') AND ?4 = 3 THEN NULL ELSE r.checkpoint END
	FROM (SELECT CASE
		WHEN {gone} THEN 'gone'
		WHEN r.state = 1 AND {mine} THEN 'own'
		WHEN {doubt} THEN 'recovered'
		WHEN ?14 > 0 AND r.attempt >= ?14 THEN 'spent'
		ELSE 'taken' END AS branch))
WHERE r.key = ?2 AND {readable} AND ({gone} OR r.fingerprint = ?8 AND (r.state = 1 AND {mine} OR {free} OR {doubt} AND ?15))
RETURNING ` + sqlrecord.Columns

// ?1 key
const sqliteSelect = `SELECT ` + sqlrecord.Columns + ` FROM semel_record WHERE key = ?1`

// ?2 key ?3 token ?4 lease_until ?5 policy
const sqliteRenew = `
UPDATE semel_record AS r SET lease_until = ?4, policy = iif(?5 = 2, 2, r.policy)
WHERE r.key = ?2 AND {readable} AND {mine} AND r.state = 1 AND NOT {gone}`

// sqliteFinish has two forms, for the expiry that stands and for the one that
// moves: an index is rewritten when its column is assigned, changed or not.
//
// ?2 key ?3 token ?4 state ?5 result_kind ?6 result ?7 cause ?8 half of the
// retention, rounded up ?9 unrun ?10 the new expiry
const sqliteFinish = `
UPDATE semel_record AS r SET
	state = ?4,
	result_kind = ?5,
	result = ?6,
	checkpoint = iif(?4 = 3, NULL, r.checkpoint),
	doubt_since = CASE WHEN ?4 <> 4 THEN 0 WHEN r.cause <> 0 THEN r.doubt_since WHEN r.state = 1 AND {doubt} THEN r.lease_until ELSE ?1 END,
	cause = CASE WHEN ?4 <> 4 THEN 0 WHEN r.cause <> 0 THEN r.cause WHEN r.state = 1 AND {doubt} THEN 1 ELSE ?7 END`

const (
	sqliteFinishWhere = ` WHERE r.key = ?2 AND {readable} AND {mine} AND r.state IN (1, 4) AND NOT {gone}
		AND (NOT ?9 OR r.state = 1 AND (r.cause <> 0) = (?4 = 4))`
	sqliteFinishStands = sqliteFinish + sqliteFinishWhere + ` AND r.expires_at - ?1 >= ?8`
	sqliteFinishMoves  = sqliteFinish + `, expires_at = ?10` + sqliteFinishWhere + ` AND r.expires_at - ?1 < ?8`
)

// sqliteFill puts the result into a record that was claimed as done, in the
// transaction that claimed it.
//
// ?2 key ?3 token ?4 result_kind ?5 result ?6 half of the retention, rounded up
// ?7 the new expiry
const sqliteFill = `
UPDATE semel_record AS r SET
	result_kind = ?4,
	result = ?5,
	expires_at = iif(r.expires_at - ?1 >= ?6, r.expires_at, ?7)
WHERE r.key = ?2 AND {readable} AND {mine} AND r.state = 3 AND r.result_kind = 3`

// sqliteTakeLock changes nothing and takes the write lock, as every statement that
// could write does before it looks for rows.
const sqliteTakeLock = `UPDATE semel_floor SET fence = fence WHERE 0`

// ?2 key ?3 token ?4 checkpoint
const sqliteCheckpoint = `
UPDATE semel_record AS r SET checkpoint = ?4
WHERE r.key = ?2 AND {readable} AND {mine} AND r.state = 1 AND NOT {gone}`

// ?2 key ?3 token ?4 fence seen ?5 state ?6 result_kind ?7 result ?8 expires_at
const sqliteResolve = `
UPDATE semel_record AS r SET
	state = ?5,
	token = ?3,
	fence = max(r.fence + 1, ?1),
	attempt = iif(?5 = 2, 0, r.attempt),
	expires_at = ?8,
	doubt_since = 0,
	cause = 0,
	result_kind = ?6,
	result = ?7,
	checkpoint = iif(?5 = 3, NULL, r.checkpoint)
WHERE r.key = ?2 AND {readable} AND r.fence = ?4 AND NOT {gone} AND ({free} OR {doubt})`

// sqliteDelete empties the row and leaves its fence, which must go on growing. A
// row that expired in 1970 counts as none whatever the clock says; the purge takes
// it away.
//
// ?2 key ?3 fence seen
const sqliteDelete = `
UPDATE semel_record AS r SET
	state = 2, policy = 1, token = zeroblob(16), attempt = 0, lease_until = 0, expires_at = 0, started_at = 0, doubt_since = 0,
	cause = 0, fingerprint = zeroblob(33), scope_id = zeroblob(8), operation = '', key_text = '', result_kind = 0,
	result = NULL, checkpoint = NULL
WHERE r.key = ?2 AND {readable} AND r.fence = ?3 AND NOT {gone} AND NOT {alive}`

const sqliteFloor = `SELECT fence FROM semel_floor`

// sqliteChunk are the records of one purge.
const sqliteChunk = `
	FROM semel_record AS r INDEXED BY semel_record_expires
	WHERE {readable} AND {gone} ORDER BY r.expires_at, r.rowid LIMIT ?2`

// ?2 limit
const (
	sqliteRaiseFloor = `
WITH highest AS (SELECT max(fence) AS fence FROM (SELECT r.fence` + sqliteChunk + `))
UPDATE semel_floor SET fence = (SELECT fence FROM highest) WHERE fence < (SELECT fence FROM highest)`
	sqlitePurge = `
DELETE FROM semel_record WHERE rowid IN (SELECT r.rowid` + sqliteChunk + `)`
)

const sqlitePurgeLeft = `
SELECT r.expires_at FROM semel_record AS r INDEXED BY semel_record_expires
WHERE {readable} AND {gone} ORDER BY r.expires_at LIMIT 1`

// ?2 after key or NULL ?3 state, 0 for all ?4 scope_id or NULL ?5 limit
const sqliteList = `
SELECT key, format, state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause,
	fingerprint, scope_id, operation, key_text, result_kind, NULL, checkpoint
FROM semel_record AS r
WHERE r.key > coalesce(?2, x'') AND NOT {gone} AND (?3 = 0 OR iif({doubt}, 4, r.state) = ?3) AND (?4 IS NULL OR r.scope_id = ?4)
ORDER BY r.key LIMIT ?5`
