package redisstore

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
)

// After Close no server is begun with, not even one that was never asked.
func TestClosedCluster(t *testing.T) {
	t.Parallel()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		ContextTimeoutEnabled: true,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: "127.0.0.1:1"}}}}, nil
		},
	})
	defer client.Close()
	options := (*Options)(nil).withDefaults()
	s := &Store{client: client, route: newRoute(client, options), options: options}
	if err := s.route.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := claim(t.Context(), s); !errors.Is(err, errClosed) || !errors.Is(err, semel.ErrStoreUnavailable) {
		t.Errorf("a claim after Close: %v; want unavailable", err)
	}
}
