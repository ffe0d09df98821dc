package redis_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// Redis deletes a record when it may be forgotten, and not before: never while a lapse
// would be a doubt, nor a doubt.
func TestKeysLiveAsLongAsTheirRecords(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	lives := func(when string, key semel.KeyID, want time.Duration) {
		t.Helper()
		left, err := client.PTTL(t.Context(), prefix+key.String()).Result()
		if err != nil || left > want+time.Millisecond || left < want-time.Minute {
			t.Errorf("%s Redis deletes the key in %v, %v; want %v", when, left, err, want)
		}
	}
	const never = -1

	p := claimOf(newKey(), semel.NewToken())
	acquire(t, store, p)
	lives("running", p.Key, retention)
	if _, err := store.Renew(t.Context(), semel.RenewParams{Key: p.Key, Token: p.Token, Lease: 3 * retention}); err != nil {
		t.Fatal(err)
	}
	lives("with a lease beyond the retention", p.Key, 3*retention)
	finish(t, store, doneOf(p.Key, p.Token, "x"))
	lives("done", p.Key, retention)

	q := claimOf(newKey(), semel.NewToken())
	acquire(t, store, q)
	if _, err := store.Renew(t.Context(), semel.RenewParams{Key: q.Key, Token: q.Token, Lease: lease, Policy: semel.AtMostOnce}); err != nil {
		t.Fatal(err)
	}
	lives("at most once", q.Key, never)
	finish(t, store, inDoubt(q.Key, q.Token))
	lives("in doubt", q.Key, never)
	fence := read(t, store, q.Key).Fence
	res, err := store.Resolve(t.Context(), semel.ResolveParams{Key: q.Key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDone, Retention: retention / 2})
	if err != nil || !res.Resolved {
		t.Fatal(res, err)
	}
	lives("resolved", q.Key, retention/2)
	res, err = store.Resolve(t.Context(), semel.ResolveParams{Key: q.Key, Token: semel.NewToken(), Fence: res.Record.Fence, Resolution: semel.ResolveDelete})
	if err != nil || !res.Resolved {
		t.Fatal(res, err)
	}
	lives("deleted, for its fence", q.Key, 24*time.Hour)

	r := claimOf(newKey(), semel.NewToken())
	r.Retention = semel.Forever
	acquire(t, store, r)
	finish(t, store, doneOf(r.Key, r.Token, "x"))
	lives("kept for ever", r.Key, never)
}

// A record that Redis has deleted is none, and the next fence is above its own.
func TestDeletedByRedis(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	p := claimOf(newKey(), semel.NewToken())
	p.Retention = time.Second
	first := acquire(t, store, p).Fence
	finish(t, store, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: time.Second})
	for read(t, store, p.Key).State != semel.StateNone && t.Context().Err() == nil {
		// until then it is released
	}
	if n := client.Exists(t.Context(), prefix+p.Key.String()).Val(); n != 0 {
		t.Log("expired, and not deleted yet")
	}
	p.Token = semel.NewToken()
	if r := acquire(t, store, p); r.Attempt != 1 || r.Fence <= first {
		t.Errorf("attempt %d with fence %d after fence %d; want a fresh record with a higher one", r.Attempt, r.Fence, first)
	}
}

// runAhead makes the fence of a record one of a clock that was an hour ahead.
func runAhead(t testing.TB, client *redis.Client, name string, fence semel.Fence) (ahead semel.Fence) {
	t.Helper()
	ahead = fence + semel.Fence(time.Hour.Microseconds())
	if err := client.SetRange(t.Context(), name, 10, string(binary.LittleEndian.AppendUint64(nil, uint64(ahead)))).Err(); err != nil {
		t.Fatal(err)
	}
	return ahead
}

// Fences follow the clock of the server, and do not need it: after one that was ahead
// has been set right, they go on from where they were, also over a deletion.
func TestFencesBeyondTheClock(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	p := claimOf(newKey(), semel.NewToken())
	fence := runAhead(t, client, prefix+p.Key.String(), acquire(t, store, p).Fence)
	next := func(when string) {
		t.Helper()
		p.Token = semel.NewToken()
		if fence++; acquire(t, store, p).Fence != fence {
			t.Errorf("%s the fence is %d; want %d", when, read(t, store, p.Key).Fence, fence)
		}
	}
	finish(t, store, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: retention})
	next("after a release")
	finish(t, store, inDoubt(p.Key, p.Token))
	res, err := store.Resolve(t.Context(), semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDidNotHappen, Retention: retention})
	if fence++; err != nil || res.Record.Fence != fence {
		t.Errorf("after a decision the fence is %d, %v; want %d", res.Record.Fence, err, fence)
	}
	res, err = store.Resolve(t.Context(), semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDelete})
	if err != nil || !res.Resolved {
		t.Fatal(res, err)
	}
	next("after a deletion")
	if err := advance(t.Context(), client, prefix, 2*retention); err != nil {
		t.Fatal(err)
	}
	if r := read(t, store, p.Key); r.State != semel.StateNone {
		t.Errorf("expired, it is %v", r.State)
	}
}

// A fence that is ahead of the clock, since the clock was, or somebody's server, is not
// forgotten with its record: else the next one would be smaller.
func TestFenceAheadOutlivesItsRecord(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	p := claimOf(newKey(), semel.NewToken())
	p.Lease, p.Retention = time.Second, time.Second
	ahead := runAhead(t, client, prefix+p.Key.String(), acquire(t, store, p).Fence)
	finish(t, store, semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateDone, Retention: time.Second})
	for over := client.Time(t.Context()).Val().Add(p.Retention + 10*time.Millisecond); client.Time(t.Context()).Val().Before(over); {
		// until then it is done
	}
	if r := read(t, store, p.Key); r.State != semel.StateNone {
		t.Errorf("the record is %v after its retention", r.State)
	}
	p.Token = semel.NewToken()
	if r := acquire(t, store, p); r.Attempt != 1 || r.Fence <= ahead {
		t.Errorf("attempt %d with fence %d after fence %d; want a fresh record with a higher one", r.Attempt, r.Fence, ahead)
	}
}

// A mark that is plain: one command, whoever sends it twice is first both times.
func TestFirstTime(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	key := newKey()
	for i, want := range []bool{true, false, false} {
		if first, err := store.FirstTime(t.Context(), key, time.Hour); err != nil || first != want {
			t.Errorf("mark %d: first %v, %v; want %v", i+1, first, err, want)
		}
	}
	if left := client.PTTL(t.Context(), prefix+"mark:"+key.String()).Val(); left > time.Hour || left < time.Hour-time.Minute {
		t.Errorf("the mark lives for %v", left)
	}
	forever := newKey()
	if first, err := store.FirstTime(t.Context(), forever, semel.Forever); err != nil || !first {
		t.Errorf("a mark for ever: %v, %v", first, err)
	}
	if left := client.PTTL(t.Context(), prefix+"mark:"+forever.String()).Val(); left != -1 {
		t.Errorf("a mark for ever lives for %v", left)
	}
	if _, err := store.FirstTime(t.Context(), newKey(), time.Millisecond); err == nil {
		t.Error("a ttl below a second is taken")
	}
	if r := read(t, store, key); r.State != semel.StateNone {
		t.Errorf("the mark is a record: %v", r.State)
	}
}
