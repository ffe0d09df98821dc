package scratch

import (
	"context"
	"errors"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/redisstore"
)

// Engine runs story on an engine whose records are in memory, or on the Redis server that
// REDIS_URL names.
func Engine(ctx context.Context, story func(context.Context, *semel.Engine) error) error {
	if url := os.Getenv("REDIS_URL"); url != "" {
		return onRedis(ctx, url, story)
	}
	store, err := memstore.New(nil)
	if err != nil {
		return err
	}
	return onStore(ctx, store, story)
}

func onRedis(ctx context.Context, url string, story func(context.Context, *semel.Engine) error) error {
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
	return onStore(ctx, store, story)
}

func onStore(ctx context.Context, store semel.Store, story func(context.Context, *semel.Engine) error) error {
	engine, err := semel.New(store, nil)
	if err != nil {
		return err
	}
	return errors.Join(story(ctx, engine), engine.Close(ctx))
}
