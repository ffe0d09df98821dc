-- compatible: 1

-- One row per key. Times are microseconds since 1970 of the store's clock;
-- expires_at 9223372036854775807 is never. The numbers in format, state, policy,
-- cause and result_kind are those of package semel.
CREATE TABLE semel_record (
	key         BLOB    NOT NULL PRIMARY KEY,
	format      INTEGER NOT NULL,
	state       INTEGER NOT NULL,
	policy      INTEGER NOT NULL,
	token       BLOB    NOT NULL,
	fence       INTEGER NOT NULL,
	attempt     INTEGER NOT NULL,
	lease_until INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL,
	started_at  INTEGER NOT NULL,
	doubt_since INTEGER NOT NULL,
	cause       INTEGER NOT NULL,
	fingerprint BLOB    NOT NULL,
	scope_id    BLOB    NOT NULL,
	operation   TEXT    NOT NULL,
	key_text    TEXT    NOT NULL,
	result_kind INTEGER NOT NULL,
	result      BLOB,
	checkpoint  BLOB
) STRICT;

-- The purge walks along it. It is written by a claim and left alone by a finish.
CREATE INDEX semel_record_expires ON semel_record (expires_at);
