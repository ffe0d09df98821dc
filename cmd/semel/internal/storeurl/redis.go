package storeurl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/semel-go/semel/redisstore"
)

func openRedis(ctx context.Context, a address) (*Handle, error) {
	logging.Disable() // what the client would print comes as an error too
	client, err := redisClient(a)
	if err != nil {
		return nil, err
	}
	name := redisName(a)
	store, err := redisstore.New(ctx, client, &redisstore.Options{
		Prefix: a.params[tablePrefix], Timeout: a.duration(callTimeout, 0),
		Replicas: a.int(waitReplicas, 0), AllowEviction: a.params[allowEviction] == "true",
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, asParameter(err)), client.Close())
	}
	most := primaries(ctx, client) * a.int(poolMaxConns, defaultMaxConns)
	return &Handle{
		Store: store, Name: name, Shared: true, Warnings: redisWarnings(a), present: nothing,
		Connections: func() Connections {
			s := client.PoolStats()
			return Connections{InUse: int(s.TotalConns) - int(s.IdleConns), Idle: int(s.IdleConns), Max: most}
		},
		close: func() error { return errors.Join(store.Close(), client.Close()) },
	}, nil
}

// primaries is how many servers own keys; each has a pool.
func primaries(ctx context.Context, client redis.UniversalClient) int {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return 1
	}
	var n atomic.Int64
	err := cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { n.Add(1); return nil })
	if err != nil {
		return 1 // a figure of the metrics is not worth a start
	}
	return int(n.Load())
}

// asParameter adds to an error that names a setting of Go what it is in an address.
func asParameter(err error) error {
	for _, s := range []struct{ inGo, here string }{
		{"Options.AllowEviction", "add allow_eviction=true"},
		{"redis.NewClusterClient", "write redis-cluster://HOST,HOST,HOST"},
		{"redis.NewFailoverClient", "write redis-sentinel://HOST,HOST,HOST/NAME"},
	} {
		if strings.Contains(err.Error(), s.inGo) {
			return fmt.Errorf("%w; in --store that is: %s", err, s.here)
		}
	}
	return err
}
