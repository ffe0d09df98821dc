package postgres

// The statements of a claim. $1 is the wait.

// insertColumns are the columns of a fresh record.
const insertColumns = `key, format, state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause,
	fingerprint, scope_id, operation, key_text, result_kind`

// textNew claims a key that has no record. It is most of all claims, and has little to
// read back; no row says that there is a record.
//
// $2 key $3 token $4 state $5 policy $6 lease $7 retention, negative for forever
// $8 fingerprint $9 scope_id $10 operation $11 key_text
var textNew = insertFrom(`(SELECT {clock} AS now, set_config('lock_timeout', $1::text, true)) AS i`)

// insertFrom inserts one record at the time i.now.
func insertFrom(i string) string {
	return `
	INSERT INTO semel_record (` + insertColumns + `)
	SELECT $2::uuid, 1, $4::smallint, $5::smallint, $3::uuid, greatest(i.now, (SELECT fence + 1 FROM semel_floor)), 1,
		i.now + $6::bigint, CASE WHEN $7::bigint < 0 THEN {never} ELSE i.now + $7::bigint END, i.now, 0, 0,
		$8::bytea, $9::bytea, $10::bytea, $11::bytea, CASE WHEN $4::smallint = 3 THEN 3 ELSE 0 END
	FROM ` + i + `
	ON CONFLICT (key) DO NOTHING
	RETURNING fence, started_at, {clock} AS now`
}

// textInsert is textNew that tells of the record that is there otherwise: both halves
// see the snapshot that was taken before. No row at all means that somebody else
// inserted the key meanwhile.
var textInsert = `
WITH moved AS (` + insertFrom(`(SELECT {clock} AS now) AS i
	WHERE {bounded}`) + `)
SELECT true, r.now, false, {fresh} FROM moved AS r
UNION ALL
SELECT false, {clock}, r.waited, {columns} FROM semel_record AS r WHERE r.key = $2::uuid AND NOT EXISTS (SELECT FROM moved)`

// textInsertMany is the same for a batch. The key stands in each row; $8 holds the
// fingerprints and scope ids of all, one after the other.
//
// The second half goes key by key: a LIMIT hides the number of keys from the
// planner, and OFFSET 0 keeps the look-up a look-up. A plan that was made when the
// table was empty is then right for a large one.
//
// $2 keys $3 tokens $4 states $5 policies $6 leases $7 retentions $8 digests
// $9 operations $10 key_texts $11 their number
const textInsertMany = `
WITH moved AS (
	INSERT INTO semel_record (` + insertColumns + `)
	SELECT i.key, 1, i.state, i.policy, i.token, greatest(i.now, (SELECT fence + 1 FROM semel_floor)), 1,
		i.now + i.lease, CASE WHEN i.retention < 0 THEN {never} ELSE i.now + i.retention END, i.now, 0, 0,
		substr($8::bytea, (41 * i.n - 40)::integer, 33), substr($8::bytea, (41 * i.n - 7)::integer, 8), i.operation, i.key_text,
		CASE WHEN i.state = 3 THEN 3 ELSE 0 END
	FROM (
		SELECT {clock} AS now, u.* FROM unnest($2::uuid[], $3::uuid[], $4::smallint[], $5::smallint[], $6::bigint[], $7::bigint[], $9::bytea[], $10::bytea[])
		WITH ORDINALITY AS u(key, token, state, policy, lease, retention, operation, key_text, n)) AS i
	WHERE {bounded}
	ON CONFLICT (key) DO NOTHING
	RETURNING key, fence, started_at)
SELECT uuid_send(r.key), true, {clock}, false, {fresh} FROM moved AS r
UNION ALL
SELECT uuid_send(r.key), false, {clock}, r.waited, {columns}
FROM (SELECT u.key FROM unnest($2::uuid[]) AS u(key) LIMIT (SELECT $11::bigint)) AS i
CROSS JOIN LATERAL (SELECT * FROM semel_record AS s WHERE s.key = i.key OFFSET 0) AS r
WHERE (SELECT count(*) FROM moved) < $11::bigint`

// textTake moves a record that is there, by the branches of the protocol: gone,
// own (running with the caller's token), spent (attempts used up), taken, recovered.
// No row comes back when none applies.
//
// $2 to $11 as of textInsert, $12 max attempts $13 recovering
const textTake = `
UPDATE semel_record AS r SET
	(state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause,
	 fingerprint, scope_id, operation, key_text, result_kind, result, checkpoint, waited) = (
	SELECT
		CASE branch WHEN 'own' THEN 1 WHEN 'spent' THEN 4 ELSE $4::smallint END,
		CASE WHEN branch IN ('own', 'spent') THEN r.policy WHEN branch = 'recovered' THEN 2 ELSE $5::smallint END,
		CASE WHEN branch <> 'spent' THEN $3::uuid WHEN r.state = 2 THEN {zero} ELSE r.token END,
		CASE WHEN branch IN ('own', 'spent') THEN r.fence ELSE greatest(r.fence + 1, now) END,
		CASE WHEN branch IN ('own', 'spent') THEN r.attempt WHEN branch = 'gone' THEN 1 ELSE r.attempt + 1 END,
		CASE branch WHEN 'spent' THEN r.lease_until ELSE now + $6::bigint END,
		CASE WHEN branch IN ('own', 'spent') THEN r.expires_at WHEN $7::bigint < 0 THEN {never} ELSE now + $7::bigint END,
		CASE WHEN branch IN ('gone', 'taken') THEN now ELSE r.started_at END,
		CASE branch WHEN 'own' THEN r.doubt_since WHEN 'spent' THEN now
			WHEN 'recovered' THEN CASE WHEN r.cause <> 0 THEN r.doubt_since ELSE r.lease_until END ELSE 0 END,
		CASE branch WHEN 'own' THEN r.cause WHEN 'spent' THEN 2
			WHEN 'recovered' THEN CASE WHEN r.cause <> 0 THEN r.cause ELSE 1 END ELSE 0 END,
		$8::bytea,
		CASE branch WHEN 'gone' THEN $9::bytea ELSE r.scope_id END,
		CASE branch WHEN 'gone' THEN $10::bytea ELSE r.operation END,
		CASE branch WHEN 'gone' THEN $11::bytea ELSE r.key_text END,
		CASE WHEN branch NOT IN ('own', 'spent') AND $4::smallint = 3 THEN 3 ELSE 0 END,
		NULL::bytea,
		CASE WHEN branch = 'gone' OR branch IN ('taken', 'recovered') AND $4::smallint = 3 THEN NULL ELSE r.checkpoint END,
		branch IN ('own', 'spent') AND r.waited
	FROM (SELECT now, CASE
			WHEN {gone} THEN 'gone'
			WHEN r.state = 1 AND r.token = $3::uuid THEN 'own'
			WHEN {doubt} THEN 'recovered'
			WHEN $12::bigint > 0 AND r.attempt >= $12::bigint THEN 'spent'
			ELSE 'taken' END AS branch
		FROM (SELECT {clock} AS now) AS c) AS b)
WHERE r.key = $2::uuid AND {bounded} AND r.format = 1
	AND ({gone} OR r.fingerprint = $8::bytea AND (
		r.state = 1 AND r.token = $3::uuid AND r.token <> {zero} OR {free} OR {doubt} AND $13::boolean))
RETURNING true, {clock}, r.waited, {columns}`
