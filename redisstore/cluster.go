package redisstore

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// redirected reports a call whose slot is elsewhere, or on its way.
func redirected(err error) bool {
	switch codeOf(err) {
	case "MOVED", "ASK", "TRYAGAIN":
		return true
	}
	return false
}

// follow goes through the client of the cluster, which follows MOVED and ASK to servers
// that nobody knew of, and learns from it.
func (c *cluster) follow(ctx context.Context, call *call) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	for text := range 2 {
		cmd := call.command(ctx, text == 1, false)
		_ = c.client.Process(ctx, cmd) // the command has it
		call.told(cmd)
		if codeOf(call.err) != "NOSCRIPT" {
			break
		}
	}
	if c.options.Replicas > 0 && call.err == nil && call.writes() {
		c.confirm(ctx, call)
	}
}

// confirm makes the call again where its slot is by now, since WAIT needs the connection
// that wrote: a call that is repeated has the same answer.
func (c *cluster) confirm(ctx context.Context, call *call) {
	p, err := c.to(ctx, call.key)
	if err == nil {
		p.send(ctx, alone(call))
		err = call.err
	}
	if err != nil {
		call.lost, call.err = true, err
	}
}

// failed looks for another primary of the slots.
func (c *cluster) failed(ctx context.Context) { c.client.ReloadState(ctx) }

func (c *cluster) all(ctx context.Context) (clients []*redis.Client, err error) {
	var mu sync.Mutex
	err = c.client.ForEachMaster(ctx, func(_ context.Context, client *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		clients = append(clients, client)
		return nil
	})
	return clients, err
}

func (c *cluster) close(ctx context.Context) (err error) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	for _, p := range c.nodes { // they are not changed any more
		err = errors.Join(err, p.close(ctx))
	}
	return err
}
