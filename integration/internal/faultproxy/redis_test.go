package faultproxy

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel/integration/internal/engines"
)

// redisClient is a client through a proxy, with one connection, and the key of a test.
type redisClient struct {
	*redis.Client
	proxy  *Proxy
	direct *redis.Client
	key    string
}

func newRedisClient(t *testing.T, protocol int) *redisClient {
	t.Helper()
	server := engines.Redis(t)
	c := &redisClient{proxy: Redis(t, server.Addr()), direct: server.Client(t), key: rand.Text()}
	c.Client = redis.NewClient(&redis.Options{
		Addr: c.proxy.Addr(), Password: server.Password(), Protocol: protocol, PoolSize: 1, PipelinePoolSize: -1, MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { c.Client.Close() })
	return c
}

func (c *redisClient) count(t *testing.T) int {
	t.Helper()
	n, err := c.direct.Get(t.Context(), c.key).Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	return n
}

func (c *redisClient) cutsIncrement(t *testing.T) {
	t.Helper()
	cut := c.proxy.Arm(Starts("INCR"), CutReply())
	if err := c.Incr(t.Context(), c.key).Err(); err == nil {
		t.Error("the client got a reply")
	}
	<-cut.Fired()
	if got := c.count(t); got != 1 {
		t.Errorf("incremented to %d; want 1, by the executed command", got)
	}
}

// If a turn were counted wrongly, the cut would come too early or never.
func TestRedisTurns(t *testing.T) {
	t.Parallel()
	turns := map[string]func(context.Context, *redisClient) error{
		"none": func(context.Context, *redisClient) error { return nil },
		"every kind of reply": func(ctx context.Context, c *redisClient) error {
			const script = `return {1, 'text', {}, {ok = 'fine'}, {err = 'ERR bad'}, false, {map = {a = 1}}, {double = 1.5}, {set = {a = true}}}`
			_, err := c.Eval(ctx, "if redis.setresp then redis.setresp(3) end "+script, nil).Result()
			return err
		},
		"errors": func(ctx context.Context, c *redisClient) error {
			if err := c.Do(ctx, "NO", "SUCH").Err(); err == nil {
				return errors.New("no error")
			}
			return nil
		},
		"maps and nothing": func(ctx context.Context, c *redisClient) error {
			if err := c.ConfigGet(ctx, "maxmemory*").Err(); err != nil {
				return err
			}
			if err := c.Get(ctx, "missing").Err(); !errors.Is(err, redis.Nil) {
				return err
			}
			return c.Do(ctx, "CLIENT", "TRACKINGINFO").Err()
		},
		"a pipeline": func(ctx context.Context, c *redisClient) error {
			_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Ping(ctx)
				p.Echo(ctx, "two")
				return nil
			})
			return err
		},
		"large texts": func(ctx context.Context, c *redisClient) error {
			got, err := c.Echo(ctx, strings.Repeat("x\r\n", 1<<19)).Result()
			if len(got) != 3<<19 {
				return errors.Join(err, errors.New("the text is not whole"))
			}
			return err
		},
	}
	for name, turns := range turns {
		for _, protocol := range []int{2, 3} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := newRedisClient(t, protocol)
				if err := turns(t.Context(), c); err != nil && !strings.Contains(err.Error(), "ERR bad") {
					t.Fatal(err)
				}
				c.cutsIncrement(t)
			})
		}
	}
}

// What was sent before a cut command in one go is answered, and what was sent after it
// does not arrive.
func TestRedisPipeline(t *testing.T) {
	t.Parallel()
	c := newRedisClient(t, 3)
	second := 0
	cut := c.proxy.Arm(func(statement string) bool {
		if Starts("INCR")(statement) {
			second++
		}
		return second == 2
	}, CutReply())
	pipe := c.Pipeline()
	for range 3 {
		pipe.Incr(t.Context(), c.key)
	}
	if _, err := pipe.Exec(t.Context()); err == nil {
		t.Error("all commands were answered")
	}
	<-cut.Fired()
	if got := c.count(t); got != 2 {
		t.Errorf("%d commands executed, want 2", got)
	}
}

func TestRedisCutBefore(t *testing.T) {
	t.Parallel()
	c := newRedisClient(t, 3)
	c.proxy.Arm(Starts("INCR "+c.key), CutBefore())
	if err := c.Incr(t.Context(), c.key).Err(); err == nil {
		t.Error("the client got a reply")
	}
	if got := c.count(t); got != 0 {
		t.Errorf("incremented to %d; want nothing done", got)
	}
}
