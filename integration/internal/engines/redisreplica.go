package engines

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Replica starts a server that follows this one, and ends with the test. It returns when
// it has all that the server has.
func (r *RedisServer) Replica(t testing.TB, o *Options) *RedisServer {
	t.Helper()
	return private(t, func(g *group) (*RedisServer, error) { return r.startReplica(g, o) })
}

func (r *RedisServer) startReplica(g *group, o *Options) (*RedisServer, error) {
	settings := map[string]string{"replicaof": fmt.Sprintf("127.0.0.1 %d", r.port)}
	maps.Copy(settings, o.settings())
	s, err := newRedis(g, "redis-server", r.password, &Options{Settings: settings})
	if err != nil {
		return nil, err
	}
	s.name += " replica"
	if err := g.start(s.instance); err != nil {
		return nil, err
	}
	return s, s.until("master_link_status", "up")
}

// Promote makes a replica a primary. One that still runs is not told.
func (r *RedisServer) Promote(t testing.TB) {
	t.Helper()
	r.fault(t, func() error { return r.do(context.Background(), "REPLICAOF", "NO", "ONE") })
}

// Follow makes the server a replica of another one, and waits until it has what the other
// one has by then.
func (r *RedisServer) Follow(t testing.TB, primary *RedisServer) {
	t.Helper()
	r.fault(t, func() error {
		if err := r.do(context.Background(), "REPLICAOF", "127.0.0.1", primary.port); err != nil {
			return err
		}
		if err := r.until("master_link_status", "up"); err != nil {
			return err
		}
		offset, err := primary.offset("master_repl_offset")
		if err != nil {
			return err
		}
		// After a partial synchronisation the link is up before what was missed has come.
		return r.untilTrue("it has caught up", func(ctx context.Context, c *redis.Client) (bool, error) {
			at, err := offsetOf(ctx, c, "slave_repl_offset")
			return at >= offset, err
		})
	})
}

// offset is a place in the stream of writes, by its name in INFO.
func (r *RedisServer) offset(name string) (n int64, err error) {
	err = r.session(context.Background(), func(ctx context.Context, c *redis.Client) error {
		n, err = offsetOf(ctx, c, name)
		return err
	})
	return n, err
}

func offsetOf(ctx context.Context, c *redis.Client, name string) (int64, error) {
	text, err := c.Info(ctx, "replication").Result()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(infoOf(text)[name], 10, 64)
}

// until asks for a line of INFO until it has this value.
func (r *RedisServer) until(name, value string) error {
	return r.untilTrue(fmt.Sprintf("%s is %s", name, value), func(ctx context.Context, c *redis.Client) (bool, error) {
		text, err := c.Info(ctx).Result()
		return infoOf(text)[name] == value, err
	})
}

// untilTrue asks a question until its answer is true.
func (r *RedisServer) untilTrue(what string, ask func(context.Context, *redis.Client) (bool, error)) error {
	return r.session(context.Background(), func(ctx context.Context, c *redis.Client) error {
		for {
			if yes, err := ask(ctx, c); err != nil || yes {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: it does not come true that %s", r.name, what)
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}
