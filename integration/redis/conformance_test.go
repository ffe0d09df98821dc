package redis_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	server := engines.Redis(t)
	client := clientOf(t, server.URL())
	conform(t, client, client, redisstore.Options{})
}

// The suite, with a client that sends again what it got no reply to, as they do by
// default, and without AOF.
func TestConformanceOfDefaults(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, &engines.Options{Settings: map[string]string{"appendonly": "no"}})
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), Password: server.Password(), Protocol: 2, ContextTimeoutEnabled: true})
	closeLater(t, client.Close)
	conform(t, client, client, redisstore.Options{})
}

// rights are those of docs/store-redis.md, for the prefixes of the tests.
func rights(secret string) []any {
	rule := []any{"ACL", "SETUSER", "semel", "reset", "on", ">" + secret, "~case*", "&case*"}
	for _, command := range []string{
		"eval", "evalsha", "time", "get", "set", "setrange", "del", "publish", "subscribe", "unsubscribe", "ping", "scan", "info", "wait",
		"cluster|slots", "asking", "command",
	} {
		rule = append(rule, "+"+command)
	}
	return rule
}

// grant makes the user with the least rights on each server.
func grant(t testing.TB, servers ...*engines.RedisServer) (secret string) {
	t.Helper()
	secret = rand.Text()
	for _, server := range servers {
		if err := server.Client(t).Do(context.Background(), rights(secret)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return secret
}

func TestConformanceWithTLSAndLeastRights(t *testing.T) {
	t.Parallel()
	server := engines.NewRedisTLS(t)
	secret := grant(t, server)
	client := redis.NewClient(&redis.Options{
		Addr: server.Addr(), TLSConfig: server.TLS(), Username: "semel", Password: secret, MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	closeLater(t, client.Close)
	conform(t, client, server.Client(t), redisstore.Options{})
}

func TestConformanceOnSentinel(t *testing.T) {
	t.Parallel()
	set := engines.NewRedisSentinel(t, nil)
	client := redis.NewFailoverClient(set.Options())
	closeLater(t, client.Close)
	conform(t, client, client, redisstore.Options{})
}

// Each call waits for a replica.
func TestConformanceWithReplicas(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	server.Replica(t, nil)
	client := clientOf(t, server.URL())
	conform(t, client, client, redisstore.Options{Replicas: 1})
}

func TestConformanceOnCluster(t *testing.T) {
	t.Parallel()
	cluster := engines.NewRedisCluster(t, nil)
	secret := grant(t, cluster.Nodes...)
	o := cluster.Options()
	admin := redis.NewClusterClient(o)
	closeLater(t, admin.Close)
	o = cluster.Options()
	o.Username, o.Password = "semel", secret
	client := redis.NewClusterClient(o)
	closeLater(t, client.Close)
	conform(t, client, admin, redisstore.Options{})
}
