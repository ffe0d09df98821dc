package redis_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// A plain mark is one command, the first one and every other one.
func TestMarkIsOneCommand(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	admin, store := server.Client(t), openStore(t, clientOf(t, server.URL()), nil)
	key := newKey()
	for i := range 3 {
		if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if first, err := store.FirstTime(t.Context(), key, time.Hour); err != nil || first != (i == 0) {
			t.Errorf("mark %d: first %v, %v", i+1, first, err)
		}
		if got := commands(t, admin); len(got) != 1 || got["set"] != 1 {
			t.Errorf("mark %d took %v; want one SET", i+1, got)
		}
	}
}

// The reply to a mark is lost, and the client sends it again: it is still the first.
// With the recipe of SETNX nobody would be, and the work would be done by none.
func TestMarkSentAgain(t *testing.T) {
	t.Parallel()
	l := newLine(t, &redis.Options{MaxRetries: 3})
	key := newKey()
	cut := l.proxy.Arm(faultproxy.Starts("SET "), faultproxy.CutReply())
	if first, err := l.through.FirstTime(t.Context(), key, time.Hour); err != nil || !first {
		t.Errorf("first %v, %v; want true", first, err)
	}
	<-cut.Fired()
	if first, err := l.directly.FirstTime(t.Context(), key, time.Hour); err != nil || first {
		t.Errorf("another caller: first %v, %v; want false", first, err)
	}
}

// Without such a client the caller learns that nothing is known.
func TestMarkWithoutReply(t *testing.T) {
	t.Parallel()
	l := newLine(t, &redis.Options{MaxRetries: -1})
	cut := l.proxy.Arm(faultproxy.Starts("SET "), faultproxy.CutReply())
	if first, err := l.through.FirstTime(t.Context(), newKey(), time.Hour); first || !noReply(err) {
		t.Errorf("first %v, %v; want no reply", first, err)
	}
	<-cut.Fired()
}
