package mysql

// The statements of the dialect. Each is one autocommitted step, conditional on what
// it changes. A single-table UPDATE assigns from left to right and reads values
// already updated, so each assignment stands before the columns that it reads, or
// reads itself alone. LAST_INSERT_ID(…) hands the clock of a statement back with its
// reply.

// insertRecord claims a key that has no record, which most claims do. A record that
// is there is locked and left as it is: of all forms of insert, this one on the
// primary key does not deadlock.
//
// ?1 key ?2 token ?3 state ?4 policy ?5 lease ?6 ?7 expiry, see expiryOf
// ?8 fingerprint ?9 scope_id ?10 operation ?11 key_text ?12 result_kind ?13 least fence
const insertRecord = `{bounded} ` + insertHead + insertRow + insertTail

const (
	insertRow  = ` (LAST_INSERT_ID({now}), ?1, 1, ?3, ?4, ?2, GREATEST(started_at, ?13), 1, started_at + ?5, started_at * ?6 + ?7, 0, 0, ?8, ?9, ?10, ?11, ?12)`
	insertHead = "INSERT INTO semel_record (started_at, `key`, format, state, policy, token, fence, attempt, lease_until, expires_at," +
		" doubt_since, cause, fingerprint, scope_id, operation, key_text, result_kind) VALUES"
	insertTail = ` ON DUPLICATE KEY UPDATE format = format`
)

// ?1 key
const (
	selectRecord = selectHead + ` WHERE r.key = ?1`
	// lockRecord is for transactions, which must not go by their snapshot.
	lockRecord = selectRecord + ` FOR UPDATE`
	selectHead = `SELECT {columns}, {now} FROM semel_record AS r FORCE INDEX (PRIMARY)`
)

// asSeen is the record that a claim has judged. Whoever changed it since, changed
// one of these: who takes or decides it raises the fence, who finishes or deletes it
// changes the state or the lease.
//
// ?3 fence ?4 state ?5 lease_until ?6 checkpoint
const asSeen = ` WHERE r.key = ?1 AND {readable} AND r.fence = ?3 AND r.state = ?4 AND r.lease_until = ?5 AND r.checkpoint <=> ?6`

// ownRecord renews the lease of a claim that was repeated.
//
// ?2 token ?7 lease
const ownRecord = `{bounded} UPDATE semel_record AS r SET r.lease_until = LAST_INSERT_ID({now}) + ?7` + asSeen + ` AND {mine} AND NOT {gone}`

// spendRecord puts a record in doubt whose attempts are used up.
//
// ?7 new token
const spendRecord = `{bounded} UPDATE semel_record AS r SET r.doubt_since = LAST_INSERT_ID({now}), r.cause = 2, r.token = ?7, r.state = 4` +
	asSeen + ` AND {free} AND NOT {gone}`

// takeRecord claims a record that is gone, free, or in doubt.
//
// ?7 lease ?8 ?9 expiry ?10 1 keeps started_at ?11 state ?12 policy ?13 token ?14 attempt
// ?15 doubt_since ?16 cause ?17 fingerprint ?18 scope_id ?19 operation ?20 key_text
// ?21 result_kind ?22 1 keeps the checkpoint ?23 condition, see branch
const takeRecord = `{bounded} UPDATE semel_record AS r SET
	r.fence = GREATEST(r.fence + 1, LAST_INSERT_ID({now})),
	r.lease_until = {now} + ?7,
	r.expires_at = {now} * ?8 + ?9,
	r.started_at = IF(?10, r.started_at, {now}),
	r.state = ?11, r.policy = ?12, r.token = ?13, r.attempt = ?14, r.doubt_since = ?15, r.cause = ?16,
	r.fingerprint = ?17, r.scope_id = ?18, r.operation = ?19, r.key_text = ?20, r.result_kind = ?21, r.result = NULL,
	r.checkpoint = IF(?22, r.checkpoint, NULL)` + asSeen + ` AND CASE ?23 WHEN 1 THEN {gone} WHEN 2 THEN {free} ELSE {doubt} END`

// ?1 key ?2 token ?3 lease ?4 policy
const renewRecord = `{bounded} UPDATE semel_record AS r SET r.lease_until = LAST_INSERT_ID({now}) + ?3, r.policy = GREATEST(r.policy, ?4)
WHERE r.key = ?1 AND {readable} AND {mine} AND r.state = 1 AND NOT {gone}`

// ?1 key ?2 token ?3 checkpoint
const checkpointRecord = `{bounded} UPDATE semel_record AS r SET r.checkpoint = ?3
WHERE r.key = ?1 AND {readable} AND {mine} AND r.state = 1 AND NOT {gone}`

// finishRecord ends a run without a result. The state that it aims at, of which
// doubt_since and cause depend, is 4 for a recovery that nobody began.
//
// ?1 key ?2 token ?3 state ?4 cause ?5 half of the retention ?6 ?7 expiry ?8 unrun
const finishRecord = `{bounded} UPDATE semel_record AS r SET
	r.expires_at = IF(r.expires_at - {now} < ?5, {now} * ?6 + ?7, r.expires_at),
	r.doubt_since = CASE WHEN ` + aim + ` <> 4 THEN 0 WHEN r.cause <> 0 THEN r.doubt_since WHEN r.state = 1 AND {doubt} THEN r.lease_until ELSE {now} END,
	r.cause = CASE WHEN ` + aim + ` <> 4 THEN 0 WHEN r.cause <> 0 THEN r.cause WHEN r.state = 1 AND {doubt} THEN 1 ELSE ?4 END,
	r.result_kind = 0, r.result = NULL, r.state = ` + aim + finishWhere + ` AND (NOT ?8 OR r.state = 1)`

// doneRecord ends a run with a result, as most runs end. It drops the checkpoint.
//
// ?1 key ?2 token ?3 result_kind ?4 result ?5 half of the retention ?6 ?7 expiry
const doneRecord = `{bounded} UPDATE semel_record AS r SET
	r.expires_at = IF(r.expires_at - {now} < ?5, {now} * ?6 + ?7, r.expires_at),
	r.doubt_since = 0, r.cause = 0, r.checkpoint = NULL, r.result_kind = ?3, r.result = ?4, r.state = 3` + finishWhere

const aim = `IF(?8 AND r.cause <> 0, 4, ?3)`

const finishWhere = `
WHERE r.key = ?1 AND {readable} AND {mine} AND r.state IN (1, 4) AND NOT {gone}`

// fillRecord puts the result into a record that a transaction has made as done.
//
// ?1 key ?2 token ?3 result_kind ?4 result ?5 half of the retention ?6 ?7 expiry
const fillRecord = `UPDATE semel_record AS r SET
	r.result_kind = ?3, r.result = ?4, r.expires_at = IF(r.expires_at - {now} < ?5, {now} * ?6 + ?7, r.expires_at)
WHERE r.key = ?1 AND {readable} AND {mine} AND r.state = 3`

// resolveRecord is the decision that a record is done, or did not happen.
//
// ?1 key ?2 token ?3 fence seen ?4 state ?5 result_kind ?6 result ?7 ?8 expiry
const resolveRecord = `{bounded} UPDATE semel_record AS r SET
	r.fence = GREATEST(r.fence + 1, {now}), r.expires_at = {now} * ?7 + ?8, r.attempt = IF(?4 = 2, 0, r.attempt),
	r.checkpoint = IF(?4 = 3, NULL, r.checkpoint), r.doubt_since = 0, r.cause = 0, r.result_kind = ?5, r.result = ?6,
	r.token = ?2, r.state = ?4
WHERE r.key = ?1 AND {readable} AND r.fence = ?3 AND NOT {gone} AND ({free} OR {doubt})`

// deleteRecord empties the row and leaves its fence, which must go on growing. A
// row that expired in 1970 counts as none whatever the clock says; the purge takes
// it away.
//
// ?1 key ?2 fence seen
const deleteRecord = `{bounded} UPDATE semel_record AS r SET
	r.policy = 1, r.token = {zero}, r.attempt = 0, r.lease_until = 0, r.expires_at = 0, r.started_at = 0, r.doubt_since = 0, r.cause = 0,
	r.fingerprint = REPEAT(x'00', 33), r.scope_id = REPEAT(x'00', 8), r.operation = x'', r.key_text = x'', r.result_kind = 0,
	r.result = NULL, r.checkpoint = NULL, r.state = 2
WHERE r.key = ?1 AND {readable} AND r.fence = ?2 AND NOT {gone} AND NOT {alive}`

const selectFloor = `SELECT fence FROM semel_floor WHERE id = 1`

const dueWhere = ` FROM semel_record AS r FORCE INDEX (semel_record_expires) WHERE {readable} AND {gone} ORDER BY r.expires_at`

const selectPurgeLeft = `SELECT r.expires_at, {now}` + dueWhere + ` LIMIT 1`

// ?1 after this key ?2 state, 0 for all ?3 scope_id or NULL ?4 limit
const listRecords = "SELECT `key`, format, state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause," + `
	fingerprint, scope_id, operation, key_text, result_kind, NULL, checkpoint, {now}
FROM semel_record AS r FORCE INDEX (PRIMARY)
WHERE r.key > ?1 AND NOT {gone} AND (?2 = 0 OR IF({doubt}, 4, r.state) = ?2) AND (?3 IS NULL OR r.scope_id = ?3)
ORDER BY r.key LIMIT ?4`
