package postgres

// $1 key
const textSelect = `SELECT {clock}, r.waited, {columns} FROM semel_record AS r WHERE r.key = $1::uuid`

// $1 after this key, or NULL $2 state, 0 for all $3 scope_id or NULL $4 limit
const textList = `
SELECT {clock}, r.waited, {listed}
FROM semel_record AS r
WHERE r.key >= coalesce($1::uuid, {zero}) AND ($1::uuid IS NULL OR r.key <> $1::uuid) AND NOT {gone}
	AND ($2::smallint = 0 OR CASE WHEN {doubt} THEN 4 ELSE r.state END = $2::smallint) AND ($3::bytea IS NULL OR r.scope_id = $3::bytea)
ORDER BY r.key LIMIT $4::bigint`

// $2 key $3 token $4 fence seen $5 state $6 result_kind $7 result $8 retention,
// negative for forever
const textResolve = `
UPDATE semel_record AS r SET
	state = $5::smallint,
	token = $3::uuid,
	fence = greatest(r.fence + 1, {clock}),
	attempt = CASE $5::smallint WHEN 2 THEN 0 ELSE r.attempt END,
	expires_at = CASE WHEN $8::bigint < 0 THEN {never} ELSE {clock} + $8::bigint END,
	doubt_since = 0,
	cause = 0,
	result_kind = $6::smallint,
	result = $7::bytea,
	checkpoint = CASE $5::smallint WHEN 3 THEN NULL ELSE r.checkpoint END
WHERE r.key = $2::uuid AND {bounded} AND r.format = 1 AND r.fence = $4::bigint AND NOT {gone} AND ({free} OR {doubt})
RETURNING `

// textDelete empties the row and leaves its fence, which must go on growing. A row
// that expired in 1970 counts as none whatever the clock says; the purge takes it
// away.
//
// $2 key $3 fence seen
const textDelete = `
UPDATE semel_record AS r SET
	state = 2, policy = 1, token = {zero}, attempt = 0, lease_until = 0, expires_at = 0, started_at = 0, doubt_since = 0,
	cause = 0, fingerprint = decode(repeat('00', 33), 'hex'), scope_id = decode(repeat('00', 8), 'hex'), operation = '', key_text = '',
	result_kind = 0, result = NULL, checkpoint = NULL
WHERE r.key = $2::uuid AND {bounded} AND r.format = 1 AND r.fence = $3::bigint AND NOT {gone} AND NOT {alive}
RETURNING `

// due finds the expired records, along the index.
const due = `
	FROM semel_record AS r
	WHERE r.expires_at <= (SELECT {clock}) AND r.format = 1 AND {gone} ORDER BY r.expires_at`

// textPurge forgets one chunk and raises the floor of fences in the same step. Rows
// that somebody holds are left to the next chunk.
//
// $2 limit
const textPurge = `
WITH chunk AS MATERIALIZED (
	SELECT r.ctid AS place, r.fence` + due + ` LIMIT $2::bigint FOR UPDATE SKIP LOCKED),
raised AS (
	UPDATE semel_floor SET fence = (SELECT max(fence) FROM chunk) WHERE {bounded} AND fence < (SELECT max(fence) FROM chunk)),
deleted AS (
	DELETE FROM semel_record AS r WHERE r.ctid = ANY (ARRAY(SELECT place FROM chunk)) RETURNING 1)
SELECT count(*) FROM deleted`

// textPurgeLeft tells of the oldest record that is due.
const textPurgeLeft = `SELECT r.expires_at, {clock}` + due + ` LIMIT 1`

// textAwait marks a run as waited for, and tells whether it goes on. $2 key $3 fence
const textAwait = `
WITH marked AS (
	UPDATE semel_record AS r SET waited = true
	WHERE r.key = $2::uuid AND {bounded} AND r.format = 1 AND r.fence = $3::bigint AND r.state = 1 AND NOT r.waited
	RETURNING 1)
SELECT EXISTS (SELECT FROM marked)
	OR EXISTS (SELECT FROM semel_record AS r WHERE r.key = $2::uuid AND r.fence = $3::bigint AND r.state = 1 AND r.waited)`

// textNotify tells the waiters of all processes. $1 channel $2 keys
const textNotify = `SELECT count(pg_notify($1::text, u.key)) FROM unnest($2::text[]) AS u(key)`

// textSettings are what a promise depends on.
const textSettings = `
SELECT current_setting('server_version_num')::integer, pg_is_in_recovery(), current_setting('transaction_read_only'),
	current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
	current_setting('synchronous_standby_names'), current_setting('default_transaction_isolation'), version()`

// textRights lists the privileges that are missing.
const textRights = `
SELECT t.name, p.privilege
FROM (VALUES ('semel_record', 'SELECT'), ('semel_record', 'INSERT'), ('semel_record', 'UPDATE'), ('semel_record', 'DELETE'),
	('semel_floor', 'SELECT'), ('semel_floor', 'UPDATE')) AS p(name, privilege)
CROSS JOIN LATERAL (SELECT p.name) AS t
WHERE NOT has_table_privilege(t.name, p.privilege)`
