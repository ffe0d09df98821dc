package redis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// What docs/store-redis.md says of a failover: a claim and a result that the replica did
// not get are forgotten, and the work runs again; the fence is higher, by the clock.
func TestFailoverForgets(t *testing.T) {
	t.Parallel()
	primary := engines.NewRedis(t, nil)
	replica := primary.Replica(t, nil)
	store := openStore(t, clientOf(t, primary.URL()), nil)
	replica.Promote(t) // one that is only paused reads later what has come to its socket
	done, held := claimOf(newKey(), semel.NewToken()), claimOf(newKey(), semel.NewToken())
	first := acquire(t, store, done).Fence
	finish(t, store, doneOf(done.Key, done.Token, "result"))
	acquire(t, store, held)
	primary.Kill(t)
	promoted := openStore(t, clientOf(t, replica.URL()), nil)
	again := done
	again.Token = semel.NewToken()
	if r := acquire(t, promoted, again); r.Attempt != 1 || r.Fence <= first {
		t.Errorf("attempt %d with fence %d after fence %d", r.Attempt, r.Fence, first)
	}
	if _, err := promoted.Finish(t.Context(), doneOf(held.Key, held.Token, "result")); !errors.Is(err, semel.ErrFenced) {
		t.Errorf("the owner whose claim was forgotten: %v; want ErrFenced", err)
	}
}

// With Options.Replicas a caller is not told of a write that no replica has, also when
// the call changed nothing the second time: the replica that is frozen must not count
// because an idle connection asks for it.
func TestReplicasMustHaveIt(t *testing.T) {
	t.Parallel()
	primary := engines.NewRedis(t, nil)
	replica := primary.Replica(t, nil)
	client := clientOf(t, primary.URL())
	plain, careful := openStore(t, client, nil), openStore(t, client, &redisstore.Options{Replicas: 1})
	p := claimOf(newKey(), semel.NewToken())
	replica.Pause(t)
	acquire(t, plain, p)
	for range 3 {
		ctx, cancel := soon(t)
		if _, err := careful.Claim(ctx, p); !noReply(err) {
			t.Errorf("a claim that no replica has: %v; want no reply", err)
		}
		cancel()
	}
	replica.Resume(t)
	acquire(t, careful, p)
	primary.Kill(t)
	replica.Promote(t)
	promoted := openStore(t, clientOf(t, replica.URL()), nil)
	finish(t, promoted, doneOf(p.Key, p.Token, "result"))
}

// From Redis 7.2 on, WAIT goes by what its connection has written. What changes nothing is
// a write too, where replicas are waited for, and only there.
func TestReplaysAreWrittenForWAIT(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	server.Replica(t, nil)
	client, admin := clientOf(t, server.URL()), server.Client(t)
	for replicas := range 2 {
		store := openStore(t, client, &redisstore.Options{Prefix: newPrefix(), Replicas: replicas})
		p := claimOf(newKey(), semel.NewToken())
		fence := acquire(t, store, p).Fence
		finish(t, store, inDoubt(p.Key, p.Token))
		decision := semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDone, Retention: retention}
		for range 2 {
			if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			if res, err := store.Resolve(t.Context(), decision); err != nil || !res.Resolved {
				t.Fatal(res, err)
			}
		}
		p.Token = decision.Token // an owner that asks again
		if _, err := store.Claim(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		finish(t, store, doneOf(p.Key, p.Token, "x"))
		if got := commands(t, admin)["setrange"]; got != 3*replicas {
			t.Errorf("with %d replicas three calls that change nothing wrote %d times; want %d", replicas, got, 3*replicas)
		}
	}
}

// Too few replicas is no reply with the count, within the time that the store has.
func TestTooFewReplicas(t *testing.T) {
	t.Parallel()
	primary := engines.NewRedis(t, nil)
	client := clientOf(t, primary.URL())
	acquire(t, openStore(t, client, nil), claimOf(newKey(), semel.NewToken())) // the server knows the script
	store := openStore(t, client, &redisstore.Options{Replicas: 1, Timeout: 2 * time.Second})
	p := claimOf(newKey(), semel.NewToken())
	_, err := store.Claim(t.Context(), p)
	if !noReply(err) || !strings.Contains(err.Error(), "0 of 1 replicas") {
		t.Errorf("a claim without replicas: %v; want no reply, with the count", err)
	}
	if r := read(t, store, p.Key); r.State != semel.StateRunning {
		t.Errorf("the record is %v", r.State)
	}
	g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil || !strings.Contains(strings.Join(g.Notes, " "), "they will not succeed") {
		t.Errorf("%+v, %v", g, err)
	}
}

// The primary is killed under load. Callers are told of errors, and go on with the
// replica that Sentinel promotes; the fences of a key only grow.
func TestSentinelFailsOver(t *testing.T) {
	t.Parallel()
	set := engines.NewRedisSentinel(t, nil)
	client := redis.NewFailoverClient(set.Options())
	closeLater(t, client.Close)
	store := openStore(t, client, nil)
	p := claimOf(newKey(), semel.NewToken())
	before := acquire(t, store, p).Fence
	cycles, stop := load(t.Context(), 8, store, func(err error) {
		if !noReply(err) && !unavailable(err) && !errors.Is(err, semel.ErrFenced) {
			t.Errorf("during the failover: %v", err)
		}
	})
	cycles.awaitMore(100)
	old := set.Primary(t)
	old.Kill(t)
	set.AwaitFailover(t, old)
	cycles.awaitMore(100)
	stop()
	r := read(t, store, p.Key)
	if r.State == semel.StateRunning && r.Fence != before {
		t.Errorf("the record is %+v", r)
	}
	if r.State == semel.StateNone {
		if after := acquire(t, store, claimOf(p.Key, semel.NewToken())).Fence; after <= before {
			t.Errorf("fence %d after fence %d", after, before)
		}
	}
	g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil || g.SingleRegister != semel.No || g.SurvivesFailover != semel.No {
		t.Errorf("%+v, %v", g, err)
	}
}
