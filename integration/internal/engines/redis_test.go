package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// A key that is missing after the restart would be one that was acknowledged.
func TestRedisKeysOutliveKill(t *testing.T) {
	t.Parallel()
	r := NewRedis(t, nil)
	client := r.Client(t)
	acknowledged, enough := make(chan int, 1), make(chan struct{})
	go func() {
		n := 0
		for ; client.Set(t.Context(), fmt.Sprint(n), 1, 0).Err() == nil; n++ {
			if n == 20 {
				close(enough)
			}
		}
		acknowledged <- n
	}()
	<-enough
	r.Kill(t)
	n := <-acknowledged
	r.Restart(t)
	for i := range n {
		if err := r.Client(t).Get(t.Context(), fmt.Sprint(i)).Err(); err != nil {
			t.Fatalf("key %d of %d: %v", i, n, err)
		}
	}
}

func TestRedisReplicaFollowsAndIsPromoted(t *testing.T) {
	t.Parallel()
	primary := NewRedis(t, nil)
	replica := primary.Replica(t, nil)
	from, to := primary.Client(t), replica.Client(t)
	pipe := from.Pipeline()
	pipe.Set(t.Context(), "k", "v", 0)
	wait := redis.NewIntCmd(t.Context(), "WAIT", 1, 0)
	_ = pipe.Process(t.Context(), wait)
	if _, err := pipe.Exec(t.Context()); err != nil || wait.Val() != 1 {
		t.Fatalf("%d replicas have it, %v", wait.Val(), err)
	}
	if got := to.Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("the replica has %q", got)
	}
	if err := to.Set(t.Context(), "k", "w", 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Errorf("written to a replica: %v", err)
	}
	replica.Promote(t)
	if err := to.Set(t.Context(), "k", "w", 0).Err(); err != nil {
		t.Error(err)
	}
	primary.Follow(t, replica)
	if got := from.Get(t.Context(), "k").Val(); got != "w" {
		t.Errorf("the former primary has %q", got)
	}
}

func TestRedisTLSOnly(t *testing.T) {
	t.Parallel()
	r := NewRedisTLS(t)
	if err := r.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	plain := redis.NewClient(&redis.Options{Addr: r.Addr(), Password: r.Password(), MaxRetries: -1})
	defer plain.Close()
	if err := plain.Ping(t.Context()).Err(); err == nil {
		t.Error("it speaks without TLS")
	}
}

func TestRedisSentinelFailsOver(t *testing.T) {
	t.Parallel()
	s := NewRedisSentinel(t, nil)
	client := redis.NewFailoverClient(s.Options())
	defer client.Close()
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	old := s.Primary(t)
	old.Kill(t)
	if now := s.AwaitFailover(t, old); now == old {
		t.Error("nobody took over")
	}
	for { // the client hears of it a little later
		if err := client.Set(t.Context(), "k", "w", 0).Err(); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("the client does not follow")
		}
	}
}

func TestRedisClusterMovesSlotsAndFailsOver(t *testing.T) {
	t.Parallel()
	c := NewRedisCluster(t, nil)
	client := redis.NewClusterClient(c.Options())
	defer client.Close()
	const key = "k"
	if err := client.Set(t.Context(), key, "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	from := c.Owner(t, c.Nodes[0], key)
	to := c.Nodes[0]
	if from == to {
		to = c.Nodes[1]
	}
	asked := false
	c.MoveSlot(t, from, to, key, func() {
		err := from.Client(t).Get(t.Context(), key).Err()
		asked = err != nil && strings.HasPrefix(err.Error(), "ASK ")
	})
	if got := client.Get(t.Context(), key).Val(); got != "v" || !asked || c.Owner(t, from, key) != to {
		t.Errorf("after the move: %q, owner %v; the former owner said ASK: %v", got, c.Owner(t, from, key).Addr(), asked)
	}
	to.Kill(t)
	if owner := c.AwaitFailover(t, from, to, key); owner == to {
		t.Error("nobody took over")
	}
}
