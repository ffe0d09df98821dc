package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/pgxstore"
)

// stats waits until the server has counted what its sessions did, and reads a counter.
func stats(t testing.TB, db *sql.DB, column string) (n int64) {
	t.Helper()
	exec(t, db, "SELECT pg_stat_force_next_flush()")
	err := db.QueryRowContext(t.Context(), "SELECT "+column+" FROM pg_stat_user_tables WHERE relname = 'semel_record'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// work makes every statement of the store run, alone and in batches. All keys are its
// own.
func work(t testing.TB, s *pgxstore.Store, round byte) {
	t.Helper()
	cycle := func(key semel.KeyID) {
		p := claimOf(key)
		res, err := s.Claim(t.Context(), p)
		if err != nil || res.Outcome != semel.ClaimAcquired {
			t.Errorf("Claim: %v, %v", res.Outcome, err)
			return
		}
		_, renew := s.Renew(t.Context(), semel.RenewParams{Key: key, Token: p.Token, Lease: time.Minute})
		_, note := s.Checkpoint(t.Context(), semel.CheckpointParams{Key: key, Token: p.Token, Data: []byte("note")})
		_, release := s.Finish(t.Context(), semel.FinishParams{Key: key, Token: p.Token, State: semel.StateReleased, Retention: time.Hour})
		res, again := s.Claim(t.Context(), p)
		_, done := s.Finish(t.Context(), doneOf(key, p.Token))
		_, replay := s.Claim(t.Context(), claimOf(key))
		_, read := s.Read(t.Context(), semel.ReadParams{Key: key})
		for _, err := range []error{renew, note, release, again, done, replay, read} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	for i := range 12 {
		cycle(semel.KeyID{round, 1, byte(i)})
	}
	var callers sync.WaitGroup
	for i := range 40 {
		callers.Go(func() {
			for j := range 12 {
				cycle(semel.KeyID{round, 2, byte(i), byte(j)})
			}
		})
	}
	callers.Wait()
}

// A prepared statement keeps the plan that it got when the table was empty, and the
// statistics said so. No plan reads the table from end to end when it has grown.
func TestPlansOfAnEmptyTableLast(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin, pool := openDB(t, "pgx", dsn), openPool(t, dsn)
	admin.SetMaxOpenConns(1)
	openSQL(t, admin, nil) // makes the tables
	store, err := pgxstore.New(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	exec(t, admin, "ALTER TABLE semel_record SET (autovacuum_enabled = off)", "VACUUM ANALYZE semel_record")
	before := stats(t, admin, "seq_tup_read")
	for round := range byte(3) { // each connection makes a lasting plan after five uses
		work(t, store, round)
	}
	exec(t, admin, `INSERT INTO semel_record (key, token, fence, attempt, lease_until, expires_at, started_at, doubt_since,
		format, state, policy, cause, result_kind, fingerprint, scope_id, operation, key_text)
		SELECT gen_random_uuid(), gen_random_uuid(), 1, 1, 0, 9223372036854775807, 0, 0, 1, 3, 1, 0, 0, '', '', '', '' FROM generate_series(1, 50000)`)
	for round := range byte(3) {
		work(t, store, 3+round)
	}
	pool.Reset() // the sessions count what they did when they end, at the latest
	for sessions := 1; sessions > 0; {
		const others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state IS NOT NULL AND pid <> pg_backend_pid() AND query LIKE '%semel_record%'"
		if err := admin.QueryRowContext(t.Context(), others).Scan(&sessions); err != nil {
			t.Fatal(err)
		}
	}
	if read := stats(t, admin, "seq_tup_read") - before; read > 0 {
		t.Errorf("%d rows were read from end to end", read)
	}
}

// A finish leaves the indexes alone (HOT): the expiry that it assigns is the old one,
// and the page has room.
func TestFinishLeavesTheIndexesAlone(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin, pool := openDB(t, "pgx", dsn), openPool(t, dsn)
	store, err := pgxstore.New(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			for j := range 30 {
				key := semel.KeyID{byte(i), byte(j)}
				token, _ := claimed(t, store, key)
				p := doneOf(key, token)
				p.Result.Data = make([]byte, 300)
				if _, err := store.Finish(t.Context(), p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	pool.Reset()
	var updates, hot int64
	for updates < 64*30 { // the sessions count as they end
		updates, hot = stats(t, admin, "n_tup_upd"), stats(t, admin, "n_tup_hot_upd")
	}
	t.Logf("%d of %d updates were HOT", hot, updates)
	if hot < updates*3/4 {
		t.Errorf("%d of %d updates were HOT", hot, updates)
	}
}

// A chunk takes what it was asked for at most, and leaves what somebody holds.
func TestPurgeInChunks(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin, store := openDB(t, "pgx", dsn), openPgx(t, dsn, nil)
	for n := range 30 {
		key := semel.KeyID{byte(n)}
		token, _ := claimed(t, store, key)
		if n >= 20 {
			continue // a live lease
		}
		if _, err := store.Finish(t.Context(), doneOf(key, token)); err != nil {
			t.Fatal(err)
		}
	}
	if err := expire(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	tx := begin(t, dsn)
	held := semel.KeyID{3}
	if _, err := tx.ExecContext(t.Context(), "SELECT FROM semel_record WHERE key = $1::uuid FOR UPDATE", held.String()); err != nil {
		t.Fatal(err)
	}
	var purged []int
	for range 3 {
		res, err := store.Purge(t.Context(), semel.PurgeParams{Limit: 8})
		if err != nil || !res.More {
			t.Fatalf("Purge: %+v, %v; want more, since a row is held", res, err)
		}
		purged = append(purged, res.Purged)
	}
	if fmt.Sprint(purged) != "[8 8 3]" {
		t.Errorf("chunks %v; want 8, 8 and 3", purged)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	res, err := store.Purge(t.Context(), semel.PurgeParams{Limit: 8})
	if err != nil || res.Purged != 1 || res.More {
		t.Errorf("the last chunk: %+v, %v; want one, and no more", res, err)
	}
	var left int
	if err := admin.QueryRow("SELECT count(*) FROM semel_record WHERE state = 1").Scan(&left); err != nil || left != 10 {
		t.Errorf("%d live leases are left, %v; want 10", left, err)
	}
}

// expire lets the retention of all records end, and no lease.
func expire(ctx context.Context, admin *sql.DB) error {
	_, err := admin.ExecContext(ctx, "UPDATE semel_record SET expires_at = 1000000")
	return err
}

// Fences go on growing over a purge, even if the clock was set back meanwhile: here the
// fence of the record that is purged is an hour ahead of the clock.
func TestFenceGrowsOverAPurge(t *testing.T) {
	t.Parallel()
	dsn := engines.Postgres(t).Database(t)
	admin, store := openDB(t, "pgx", dsn), openPgx(t, dsn, nil)
	key := semel.KeyID{1}
	token, fence := claimed(t, store, key)
	if _, err := store.Finish(t.Context(), doneOf(key, token)); err != nil {
		t.Fatal(err)
	}
	ahead := fence + semel.Fence(time.Hour.Microseconds())
	exec(t, admin, fmt.Sprintf("UPDATE semel_record SET fence = %d", ahead))
	if err := expire(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	if res, err := store.Purge(t.Context(), semel.PurgeParams{Limit: 10}); err != nil || res.Purged != 1 {
		t.Fatalf("Purge: %+v, %v", res, err)
	}
	if _, fence = claimed(t, store, key); fence <= ahead {
		t.Errorf("the fence after the purge is %d, and it was %d", fence, ahead)
	}
}
