package redis_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
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

// rights are those that docs/store-redis.md names: for one server, and what a cluster
// needs beside them.
func rights(t testing.TB) (server, cluster []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/store-redis.md")
	if err != nil {
		t.Fatal(err)
	}
	between := func(start, end string) []string {
		_, rest, _ := strings.Cut(string(page), start)
		text, _, found := strings.Cut(rest, end)
		if !found {
			t.Fatalf("the page has no rights between %q and %q", start, end)
		}
		return strings.Fields(text)
	}
	return between("ACL SETUSER semel on >… ~semel:* &semel:*\n", "\n```"), between("In a cluster also `", "`")
}

// grant makes the user with the least rights on each server, for the prefixes of the
// tests; several servers are a cluster.
func grant(t testing.TB, servers ...*engines.RedisServer) (secret string) {
	t.Helper()
	secret = rand.Text()
	granted, inCluster := rights(t)
	if len(servers) > 1 {
		granted = append(granted, inCluster...)
	}
	rule := []any{"ACL", "SETUSER", "semel", "reset", "on", ">" + secret, "~case*", "&case*"}
	for _, right := range granted {
		rule = append(rule, right)
	}
	for _, server := range servers {
		if err := server.Client(t).Do(context.Background(), rule...).Err(); err != nil {
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
