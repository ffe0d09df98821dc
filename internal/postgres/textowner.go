package postgres

// The statements of a record's owner; $1 is the wait. Each has three forms: for one
// key; for a batch; and, where the first changed nothing, one that says why not.

// owned begins the condition of each, whose state is running or in doubt: the
// caller's token. A session builds the expressions of a statement anew at each
// execution, so there are as few as can be.
const owned = ` AND {bounded} AND r.format = 1 AND r.token <> {zero} AND {unexpired}`

// batch makes a statement for many keys. The rows are found in the order of the
// keys, by the index, and then by their places: with a LIMIT
// that hides the number of keys, and OFFSET 0, the planner has no other way. A
// plan that was made when the table was empty is then right for a large one.
func batch(set, columns, where string) string {
	return `
UPDATE semel_record AS r SET ` + set + `
FROM (
	SELECT u.*, x.place FROM (SELECT * FROM unnest(` + columns + ` LIMIT (SELECT $4::bigint)) AS u
	CROSS JOIN LATERAL (SELECT s.ctid AS place FROM semel_record AS s WHERE s.key = u.key OFFSET 0) AS x) AS i
WHERE r.ctid = i.place AND r.key = i.key AND r.token = i.token` + owned + where + `
RETURNING uuid_send(r.key), r.waited`
}

// single makes a statement for one key, without what it returns.
func single(set, where string) string {
	return `
UPDATE semel_record AS r SET ` + set + `
WHERE r.key = $2::uuid AND r.token = $3::uuid` + owned + where + `
RETURNING `
}

// explained makes a statement that tells of the record, moved or not, out of a
// single one. A record that was not moved is as it was at the beginning.
func explained(text string) string {
	return `
WITH moved AS (` + text + ` r.*)
SELECT true, {clock}, r.waited, {columns} FROM moved AS r
UNION ALL
SELECT false, {clock}, r.waited, {columns} FROM semel_record AS r WHERE r.key = $2::uuid AND NOT EXISTS (SELECT FROM moved)`
}

// finishSet writes a verdict. An expiry that stands is assigned its own value, which
// leaves the index alone (HOT). Of an unrun recovery the doubt comes back.
func finishSet(state, kind, result, cause, half, retention, unrun string) string {
	back := unrun + ` AND r.cause <> 0`
	doubt := `(` + state + ` = 4 OR ` + back + `)`
	return `
	state = CASE WHEN ` + back + ` THEN 4 ELSE ` + state + ` END,
	result_kind = ` + kind + `,
	result = ` + result + `,
	checkpoint = CASE WHEN ` + state + ` = 3 THEN NULL ELSE r.checkpoint END,
	doubt_since = CASE WHEN NOT ` + doubt + ` THEN 0 WHEN r.cause <> 0 THEN r.doubt_since WHEN r.state = 1 AND {doubt} THEN r.lease_until ELSE {clock} END,
	cause = CASE WHEN NOT ` + doubt + ` THEN 0 WHEN r.cause <> 0 THEN r.cause WHEN r.state = 1 AND {doubt} THEN 1 ELSE ` + cause + ` END,
	expires_at = CASE WHEN r.expires_at - {clock} >= ` + half + ` THEN r.expires_at WHEN ` + retention + ` < 0 THEN {never} ELSE {clock} + ` + retention + ` END`
}

// textFinish: $2 key $3 token $4 state $5 result_kind $6 result $7 cause $8 half of
// the retention, rounded up $9 retention, negative for forever $10 unrun
var (
	textFinish = single(
		finishSet("$4::smallint", "$5::smallint", "$6::bytea", "$7::smallint", "$8::bigint", "$9::bigint", "$10::boolean"),
		` AND (r.state = 1 OR r.state = 4 AND NOT $10::boolean)`)
	// $2 keys $3 tokens $4 their number $5 states $6 result_kinds $7 results, one after
	// the other $8 where each begins, from 1 $9 lengths, negative for none $10 causes
	// $11 halves $12 retentions $13 unrun
	textFinishMany = batch(
		finishSet("i.state", "i.kind", "CASE WHEN i.size >= 0 THEN substr($7::bytea, i.start, i.size) END", "i.cause", "i.half", "i.retention", "i.unrun"),
		`$2::uuid[], $3::uuid[], $5::smallint[], $6::smallint[], $8::integer[], $9::integer[], $10::smallint[], $11::bigint[], $12::bigint[], $13::boolean[])
		AS u(key, token, state, kind, start, size, cause, half, retention, unrun)`,
		` AND (r.state = 1 OR r.state = 4 AND NOT i.unrun)`)
)

// doneSet is finishSet for done.
func doneSet(kind, result, half, retention string) string {
	return `
	state = 3,
	result_kind = ` + kind + `,
	result = ` + result + `,
	checkpoint = NULL,
	doubt_since = 0,
	cause = 0,
	expires_at = CASE WHEN r.expires_at - {clock} >= ` + half + ` THEN r.expires_at WHEN ` + retention + ` < 0 THEN {never} ELSE {clock} + ` + retention + ` END`
}

// textDone: $2 key $3 token $4 result_kind $5 result $6 half of the retention,
// rounded up $7 retention, negative for forever
var (
	textDone = single(doneSet("$4::smallint", "$5::bytea", "$6::bigint", "$7::bigint"), ` AND r.state IN (1, 4)`)
	// $2 keys $3 tokens $4 their number $5 result_kinds $6 results, one after the other
	// $7 where each begins, from 1 $8 lengths, negative for none $9 halves $10 retentions
	textDoneMany = batch(
		doneSet("i.kind", "CASE WHEN i.size >= 0 THEN substr($6::bytea, i.start, i.size) END", "i.half", "i.retention"),
		`$2::uuid[], $3::uuid[], $5::smallint[], $7::integer[], $8::integer[], $9::bigint[], $10::bigint[])
		AS u(key, token, kind, start, size, half, retention)`,
		` AND r.state IN (1, 4)`)
)

// textRenew: $2 key $3 token $4 lease $5 policy
var (
	textRenew     = single(`lease_until = {clock} + $4::bigint, policy = CASE WHEN $5::smallint = 2 THEN 2 ELSE r.policy END`, ` AND r.state = 1`)
	textRenewMany = batch(`lease_until = {clock} + i.lease, policy = CASE WHEN i.policy = 2 THEN 2 ELSE r.policy END`,
		`$2::uuid[], $3::uuid[], $5::bigint[], $6::smallint[]) AS u(key, token, lease, policy)`, ` AND r.state = 1`)
)

// textCheckpoint: $2 key $3 token $4 checkpoint
var (
	textCheckpoint     = single(`checkpoint = $4::bytea`, ` AND r.state = 1`)
	textCheckpointMany = batch(`checkpoint = CASE WHEN i.size >= 0 THEN substr($5::bytea, i.start, i.size) END`,
		`$2::uuid[], $3::uuid[], $6::integer[], $7::integer[]) AS u(key, token, start, size)`, ` AND r.state = 1`)
)
