-- compatible: 1

-- One row per key. Times are microseconds since 1970 of the server's clock, and
-- expires_at 9223372036854775807 is never. The numbers in format, state, policy,
-- cause and result_kind are those of package semel. No column has a collation, and
-- there is no AUTO_INCREMENT and no second unique key, which cause deadlocks. The
-- purge walks along the index; a finish leaves it alone.
CREATE TABLE IF NOT EXISTS semel_record (
	`key`       BINARY(16)      NOT NULL,
	format      SMALLINT        NOT NULL,
	state       SMALLINT        NOT NULL,
	policy      SMALLINT        NOT NULL,
	token       BINARY(16)      NOT NULL,
	fence       BIGINT          NOT NULL,
	attempt     INT             NOT NULL,
	lease_until BIGINT          NOT NULL,
	expires_at  BIGINT          NOT NULL,
	started_at  BIGINT          NOT NULL,
	doubt_since BIGINT          NOT NULL,
	cause       SMALLINT        NOT NULL,
	fingerprint BINARY(33)      NOT NULL,
	scope_id    BINARY(8)       NOT NULL,
	operation   VARBINARY(1024) NOT NULL,
	key_text    BLOB            NOT NULL,
	result_kind SMALLINT        NOT NULL,
	result      LONGBLOB,
	checkpoint  LONGBLOB,
	PRIMARY KEY (`key`),
	KEY semel_record_expires (expires_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- The highest fence of all records that were purged: a new record of the same key
-- begins above it, even after the clock was set back.
CREATE TABLE IF NOT EXISTS semel_floor (
	id    SMALLINT NOT NULL PRIMARY KEY,
	fence BIGINT   NOT NULL
) ENGINE = InnoDB;

INSERT INTO semel_floor (id, fence) VALUES (1, 0) ON DUPLICATE KEY UPDATE fence = fence;
