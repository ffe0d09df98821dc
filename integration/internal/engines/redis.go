package engines

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisServer is a single Redis server: with AOF, synced at each write, and without
// eviction, unless its options say otherwise.
type RedisServer struct {
	Server
	password string
	scheme   string         // redis, or rediss with TLS
	bus      int            // port of a cluster's node to the others; else 0
	trusted  *x509.CertPool // with TLS
	last     atomic.Int64   // number of the newest database
}

func redisEngine() engine { return engine{name: "Redis", packages: "redis-server"} }

// Redis is the server that the tests of a package share.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	return share(t, &mine.redis, func(g *group) (*RedisServer, error) { return startRedis(g, nil) })
}

// NewRedis is a server for this test alone, which ends with it.
func NewRedis(t testing.TB, o *Options) *RedisServer {
	t.Helper()
	return private(t, func(g *group) (*RedisServer, error) { return startRedis(g, o) })
}

func startRedis(g *group, o *Options) (*RedisServer, error) {
	r, err := newRedis(g, "redis-server", password(), o)
	if err != nil {
		return nil, err
	}
	return r, g.start(r.instance)
}

// newRedis prepares a server and does not start it.
func newRedis(g *group, program, password string, o *Options) (*RedisServer, error) {
	i, err := g.prepare(redisEngine(), program)
	if err != nil {
		return nil, err
	}
	r := &RedisServer{Server: Server{instance: i}, password: password, scheme: "redis"}
	i.stop, i.orphan = syscall.SIGTERM, syscall.SIGKILL
	i.ready = r.ping
	return r, r.configure(redisSettings(), map[string]string{
		"port": fmt.Sprint(i.port), "requirepass": password, "masterauth": password,
	}, o.settings())
}

// redisSettings keep the durability of production.
func redisSettings() map[string]string {
	return map[string]string{
		"bind":                        "127.0.0.1",
		"appendonly":                  "yes",
		"appendfsync":                 "always",
		"maxmemory-policy":            "noeviction",
		"maxclients":                  "2000",
		"repl-diskless-sync-delay":    "0",
		"repl-ping-replica-period":    "1",
		"save":                        `""`,
		"auto-aof-rewrite-percentage": "0",
		"enable-debug-command":        "local",
	}
}

// configure writes the file that each start reads; of a name the last of settings counts.
// Sentinel and a cluster's node write into theirs.
func (r *RedisServer) configure(settings ...map[string]string) error {
	merged := map[string]string{}
	for _, s := range settings {
		maps.Copy(merged, s)
	}
	return r.configureText(lines(merged, "%s %s"))
}

func (r *RedisServer) configureText(text string) error {
	file := filepath.Join(r.dir, "redis.conf")
	r.argv = []string{r.argv[0], file}
	return errors.Join(os.WriteFile(file, []byte(text), 0o600), r.group.account.own(r.dir))
}

// URL is that of the administrator, for redis.ParseURL.
func (r *RedisServer) URL() string {
	u := url.URL{Scheme: r.scheme, User: url.UserPassword("default", r.password), Host: r.Addr(), Path: "/0"}
	return u.String()
}

// Password is the administrator's.
func (r *RedisServer) Password() string { return r.password }

// Database is the URL with a fragment that no other has: a prefix of keys, which a client
// leaves alone and a store takes.
func (r *RedisServer) Database(testing.TB) string {
	return fmt.Sprintf("%s#test%d:", r.URL(), r.last.Add(1))
}

// Client is a client of the administrator, which is closed at the end of the test.
func (r *RedisServer) Client(t testing.TB) *redis.Client {
	t.Helper()
	client := r.client()
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

func (r *RedisServer) client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: r.Addr(), Password: r.password, TLSConfig: r.TLS(), MaxRetries: -1, PoolSize: 4, ContextTimeoutEnabled: true})
}

// Set changes a setting of a private server while it runs. A restart forgets it.
func (r *RedisServer) Set(t testing.TB, name, value string) {
	t.Helper()
	r.fault(t, func() error { return r.do(context.Background(), "CONFIG", "SET", name, value) })
}

// ping says whether it serves.
func (r *RedisServer) ping(ctx context.Context) error { return r.do(ctx, "PING") }

// do executes one command of the administrator.
func (r *RedisServer) do(ctx context.Context, command ...any) error {
	return r.session(ctx, func(ctx context.Context, c *redis.Client) error { return c.Do(ctx, command...).Err() })
}

// session opens a client of the administrator for do.
func (r *RedisServer) session(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	c := r.client()
	return errors.Join(do(ctx, c), c.Close())
}
