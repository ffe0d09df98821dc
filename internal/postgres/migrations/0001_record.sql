-- compatible: 1

-- One row per key. Times are microseconds since 1970 of the server's clock;
-- expires_at 9223372036854775807 is never. The numbers in format, state, policy,
-- cause and result_kind are those of package semel. waited says that somebody waits
-- for the end of this run.
--
-- fillfactor: a run that ends makes a second version of its row, larger by the
-- result. It stays in the page, and off the indexes (HOT), if there is room: at 30, a
-- page takes some ten new records, and has room for as many results of 300 bytes.
-- vacuum_truncate: the file keeps its first pages (below), and no vacuum takes the
-- exclusive lock that shortening it needs. The other settings let vacuum come by the
-- amount of change rather than by the size of the table, and make it go on at once.
CREATE TABLE semel_record (
	fence       bigint   NOT NULL,
	lease_until bigint   NOT NULL,
	expires_at  bigint   NOT NULL,
	started_at  bigint   NOT NULL,
	doubt_since bigint   NOT NULL,
	key         uuid     NOT NULL PRIMARY KEY,
	token       uuid     NOT NULL,
	attempt     integer  NOT NULL,
	format      smallint NOT NULL,
	state       smallint NOT NULL,
	policy      smallint NOT NULL,
	cause       smallint NOT NULL,
	result_kind smallint NOT NULL,
	waited      boolean  NOT NULL DEFAULT false,
	fingerprint bytea    NOT NULL,
	scope_id    bytea    NOT NULL,
	operation   bytea    NOT NULL,
	key_text    bytea    NOT NULL,
	result      bytea,
	checkpoint  bytea
) WITH (
	fillfactor = 30,
	vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0.05,
	autovacuum_vacuum_insert_scale_factor = 0.05,
	autovacuum_analyze_scale_factor = 0.05,
	autovacuum_vacuum_cost_delay = 0
);

-- The purge walks along it. It is written by a claim and left alone by a finish.
CREATE INDEX semel_record_expires ON semel_record (expires_at);

-- The highest fence of all records that were purged: a new record of the same key
-- begins above it, even after the clock was set back.
CREATE TABLE semel_floor (fence bigint NOT NULL);

INSERT INTO semel_floor (fence) VALUES (0);

-- A prepared statement keeps the plan that it got when the table was small. The file
-- therefore begins with some empty pages: enough for a look-up in the index to be
-- the cheaper plan from the first row on.
INSERT INTO semel_record (key, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, format, state, policy, cause,
	result_kind, fingerprint, scope_id, operation, key_text)
SELECT lpad(n::text, 32, '0')::uuid, lpad(n::text, 32, '0')::uuid, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, '', '', '', '' FROM generate_series(1, 1000) AS n;

DELETE FROM semel_record;
