package main

import (
	"context"
	"fmt"
)

// The records of these functions are done, with a result of 300 bytes; their keys are
// numbered, and expiresAt is in microseconds since 1970.

// forever is an expiry that never comes.
const forever = 1<<63 - 1

// fillRecords stores n records with one statement.
func (p *postgres) fillRecords(ctx context.Context, n int, expiresAt int64) error {
	return p.exec(ctx, fmt.Sprintf(`INSERT INTO semel_record (key, token, fence, attempt, lease_until, expires_at, started_at, doubt_since,
			format, state, policy, cause, result_kind, fingerprint, scope_id, operation, key_text, result)
		SELECT encode(convert_to(lpad((n * 7919 %% 1000000007)::text, 16, '0'), 'UTF8'), 'hex')::uuid, gen_random_uuid(), 1, 1, 0, %d, 0, 0,
			1, 3, 1, 0, 1, decode(repeat('00', 33), 'hex'), decode(repeat('00', 8), 'hex'), 'charge', '', decode(repeat('72', %d), 'hex')
		FROM generate_series(0::bigint, %d - 1) AS n`, expiresAt, payload, n), "VACUUM ANALYZE semel_record", "CHECKPOINT")
}

// fillNaive stores n responses on the table of naivePGX.
func (p *postgres) fillNaive(ctx context.Context, n int) error {
	return p.exec(ctx, fmt.Sprintf(`INSERT INTO idempotency_keys SELECT 'key-' || lpad((n * 7919 %% 1000000007)::text, 22, '0'), 'finished',
			decode(repeat('72', %d), 'hex'), now(), now() - interval '1 day'
		FROM generate_series(0::bigint, %d - 1) AS n`, payload, n), "VACUUM ANALYZE idempotency_keys", "CHECKPOINT")
}

// fillRecords stores n records with one statement, in the order of the keys.
func (m *mariadb) fillRecords(ctx context.Context, n int, expiresAt int64) error {
	return m.exec(ctx, fmt.Sprintf("INSERT INTO semel_record (`key`, token, fence, attempt, lease_until, expires_at, started_at, doubt_since,"+`
			format, state, policy, cause, result_kind, fingerprint, scope_id, operation, key_text, result)
		SELECT LPAD(seq * 7919 %% 1000000007, 16, '0') AS id, REPEAT('t', 16), 1, 1, 0, %d, 0, 0,
			1, 3, 1, 0, 1, REPEAT(x'00', 33), REPEAT(x'00', 8), 'charge', '', REPEAT('r', %d)
		FROM seq_0_to_%d ORDER BY id`, expiresAt, payload, n-1), "ANALYZE TABLE semel_record")
}

// fillNaive stores n responses on the naive table.
func (m *mariadb) fillNaive(ctx context.Context, n int) error {
	return m.exec(ctx, fmt.Sprintf(`INSERT INTO idempotency_keys (idem_key, status, response, created_at, expires_at)
		SELECT CONCAT('key-', LPAD(seq * 7919 %% 1000000007, 22, '0')) AS id, 'finished', REPEAT('r', %d), 0, 0
		FROM seq_0_to_%d ORDER BY id`, payload, n-1), "ANALYZE TABLE idempotency_keys")
}
