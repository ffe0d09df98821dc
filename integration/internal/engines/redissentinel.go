package engines

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
)

// SentinelSet is a primary with two replicas and three sentinels, which promote a replica
// one second after the primary fell silent.
type SentinelSet struct {
	Servers   []*RedisServer // the first is the primary until the first failover
	Sentinels []*RedisServer
}

// sentinelMaster is what the sentinels call the set.
const sentinelMaster = "semel"

// NewRedisSentinel is a set for this test alone, which ends with it. The options are
// those of the servers.
func NewRedisSentinel(t testing.TB, o *Options) *SentinelSet {
	t.Helper()
	s := &SentinelSet{Servers: []*RedisServer{NewRedis(t, o)}}
	for range 2 {
		s.Servers = append(s.Servers, s.Servers[0].Replica(t, o))
	}
	for range 3 {
		s.Sentinels = append(s.Sentinels, private(t, s.startSentinel))
	}
	for _, sentinel := range s.Sentinels {
		sentinel.fault(t, func() error { return sentinel.untilSees(2, 2) })
	}
	return s
}

func (s *SentinelSet) startSentinel(g *group) (*RedisServer, error) {
	i, err := newRedis(g, "redis-server", "", nil)
	if err != nil {
		return nil, err
	}
	i.name = "Redis Sentinel"
	primary := s.Servers[0]
	text := fmt.Sprintf(`port %d
bind 127.0.0.1
sentinel monitor %[2]s 127.0.0.1 %[3]d 2
sentinel auth-pass %[2]s %[4]s
sentinel down-after-milliseconds %[2]s 1000
sentinel failover-timeout %[2]s 5000
sentinel parallel-syncs %[2]s 2
`, i.port, sentinelMaster, primary.port, primary.password)
	if err := i.configureText(text); err != nil {
		return nil, err
	}
	i.argv = append(i.argv, "--sentinel") // Debian has redis-sentinel in a package of its own
	return i, g.start(i.instance)
}

// untilSees waits until a sentinel knows of so many replicas and other sentinels.
func (r *RedisServer) untilSees(replicas, sentinels int) error {
	return r.untilTrue("it sees the others", func(ctx context.Context, c *redis.Client) (bool, error) {
		sees, err := sentinelMap(ctx, c)
		return sees["num-slaves"] == fmt.Sprint(replicas) && sees["num-other-sentinels"] == fmt.Sprint(sentinels), err
	})
}

func sentinelMap(ctx context.Context, c *redis.Client) (map[string]string, error) {
	cmd := redis.NewMapStringStringCmd(ctx, "SENTINEL", "MASTER", sentinelMaster)
	err := c.Process(ctx, cmd)
	return cmd.Val(), err
}

// Options are those of a client.
func (s *SentinelSet) Options() *redis.FailoverOptions {
	o := &redis.FailoverOptions{
		MasterName: sentinelMaster, Password: s.Servers[0].password, MaxRetries: -1, ContextTimeoutEnabled: true,
	}
	for _, sentinel := range s.Sentinels {
		o.SentinelAddrs = append(o.SentinelAddrs, sentinel.Addr())
	}
	return o
}

// Primary is the server that the sentinels take for the primary.
func (s *SentinelSet) Primary(t testing.TB) *RedisServer {
	t.Helper()
	var port string
	err := s.Sentinels[0].session(context.Background(), func(ctx context.Context, c *redis.Client) error {
		sees, err := sentinelMap(ctx, c)
		port = sees["port"]
		return err
	})
	for _, server := range s.Servers {
		if fmt.Sprint(server.port) == port {
			return server
		}
	}
	t.Fatal(errors.Join(fmt.Errorf("the sentinels name port %q, which no server has", port), err))
	return nil
}

// AwaitFailover waits until all sentinels name another primary than this one, and it can
// be written to.
func (s *SentinelSet) AwaitFailover(t testing.TB, from *RedisServer) *RedisServer {
	t.Helper()
	for _, sentinel := range s.Sentinels {
		err := sentinel.untilTrue("there is another primary", func(ctx context.Context, c *redis.Client) (bool, error) {
			sees, err := sentinelMap(ctx, c)
			return sees["port"] != fmt.Sprint(from.port), err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	primary := s.Primary(t)
	if err := primary.until("role", "master"); err != nil {
		t.Fatal(err)
	}
	return primary
}
