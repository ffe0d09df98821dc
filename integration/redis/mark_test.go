package redis_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel/integration/internal/faultproxy"
)

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
