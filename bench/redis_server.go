package main

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/semel-go/semel/bench/internal/window"
	"github.com/semel-go/semel/redisstore"
)

// redisServer is an empty database on the server of the environment.
type redisServer struct {
	options *redis.Options
	cleanup cleanup
}

func openRedis(ctx context.Context, cfg *window.Config) (*redisServer, error) {
	url, err := serverURL(cfg, "ENGINES_REDIS_URL", "ENGINES_REDIS_PID")
	if err != nil {
		return nil, err
	}
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.PoolSize, o.ContextTimeoutEnabled = connections, true
	r := &redisServer{options: o}
	return r, r.client().FlushDB(ctx).Err()
}

// client has a pool of its own.
func (r *redisServer) client() *redis.Client {
	o := *r.options
	c := redis.NewClient(&o)
	r.cleanup.add(func() { c.Close() })
	return c
}

// store is Semel's, on a client of its own.
func (r *redisServer) store(ctx context.Context) (*redisstore.Store, error) {
	s, err := redisstore.New(ctx, r.client(), nil)
	if err != nil {
		return nil, err
	}
	r.cleanup.add(func() { s.Close() })
	return s, nil
}

// close empties the database and ends all pools.
func (r *redisServer) close(ctx context.Context) {
	// What stays behind after a failure ends with the server.
	_ = r.client().FlushDB(context.WithoutCancel(ctx)).Err()
	r.cleanup.run()
}

// used is the memory of the data, in bytes.
func (r *redisServer) used(ctx context.Context) (bytes int64, err error) {
	info, err := r.client().InfoMap(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(info["Memory"]["used_memory_dataset"], &bytes)
	return bytes, err
}
