package redisstore

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// route finds the server of a key.
type route interface {
	// to is the server that owns the key, as far as is known.
	to(ctx context.Context, key string) (*primary, error)
	// follow makes a call that was told to go elsewhere.
	follow(ctx context.Context, c *call)
	// failed hears of a call that a server did not answer.
	failed(ctx context.Context)
	// all are the clients of all servers that own keys.
	all(ctx context.Context) ([]*redis.Client, error)
	close(ctx context.Context) error
}

// newRoute expects a client that checkClient accepts.
func newRoute(client redis.UniversalClient, o Options) route {
	if c, ok := client.(*redis.ClusterClient); ok {
		return &cluster{client: c, options: o, nodes: make(map[*redis.Client]*primary)}
	}
	return single{newPrimary(client.(*redis.Client), &o)}
}

// single is one server; behind Sentinel, the one that is the primary.
type single struct{ *primary }

func (s single) to(context.Context, string) (*primary, error) { return s.primary, nil }

func (s single) follow(context.Context, *call) {}

func (s single) failed(context.Context) {}

func (s single) all(context.Context) ([]*redis.Client, error) {
	return []*redis.Client{s.client}, nil
}

// cluster is several servers, each with the keys of some slots. Each has batches of its
// own, so that one that hangs delays no keys but its own.
type cluster struct {
	client  *redis.ClusterClient
	options Options

	mu     sync.RWMutex
	nodes  map[*redis.Client]*primary
	closed bool
}

var errClosed = errors.New("the store is closed")

func (c *cluster) to(ctx context.Context, key string) (*primary, error) {
	client, err := c.client.MasterForKey(ctx, key)
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	p := c.nodes[client]
	c.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.nodes[client] == nil {
		c.nodes[client] = newPrimary(client, &c.options)
	}
	return c.nodes[client], nil
}
