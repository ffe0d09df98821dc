package scratch

import (
	"context"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/redisstore"
)

// Store runs story on a store in memory, or on the Redis server that REDIS_URL names.
func Store(ctx context.Context, story func(context.Context, semel.Store) error) error {
	if url := os.Getenv("REDIS_URL"); url != "" {
		return onRedis(ctx, url, story)
	}
	store, err := memstore.New(nil)
	if err != nil {
		return err
	}
	return story(ctx, store)
}

func onRedis(ctx context.Context, url string, story func(context.Context, semel.Store) error) error {
	options, err := redis.ParseURL(url)
	if err != nil {
		return err
	}
	options.ContextTimeoutEnabled, options.MaxRetries = true, -1
	client := redis.NewClient(options)
	defer client.Close()
	store, err := redisstore.New(ctx, client, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	return story(ctx, store)
}
