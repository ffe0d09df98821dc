-- compatible: 1

-- The highest fence of all records that were purged: a new record of the same key
-- begins above it, even after the clock was set back.
CREATE TABLE semel_floor (fence INTEGER NOT NULL) STRICT;

INSERT INTO semel_floor (fence) VALUES (0);
