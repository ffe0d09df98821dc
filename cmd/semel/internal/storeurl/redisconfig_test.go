package storeurl

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func redisAddress(t *testing.T, rawURL string) address {
	t.Helper()
	target, err := parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return target.address
}

func mustRedis(t *testing.T, rawURL string) *redis.UniversalOptions {
	t.Helper()
	o, err := redisOptions(redisAddress(t, rawURL))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRedisConfig(t *testing.T) {
	t.Parallel()
	o := mustRedis(t, "rediss://us%3Aer:"+escaped+"@[2001:db8::1]/3?connect_timeout=7&tls_name=redis.example&pool_max_conns=4&semel_timeout=9s")
	if o.Username != "us:er" || o.Password != hostile || !slices.Equal(o.Addrs, []string{"[2001:db8::1]:6379"}) || o.DB != 3 {
		t.Errorf("%q %q %q %d", o.Username, o.Password, o.Addrs, o.DB)
	}
	if o.TLSConfig == nil || o.TLSConfig.ServerName != "redis.example" || o.TLSConfig.InsecureSkipVerify {
		t.Errorf("TLS: %+v", o.TLSConfig)
	}
	if !o.ContextTimeoutEnabled || o.DialTimeout != 7*time.Second || o.ReadTimeout != 9*time.Second || o.PoolSize != 4 {
		t.Errorf("%+v", o)
	}
	if o := mustRedis(t, "redis://:p@h:1/?wait=2"); o.TLSConfig != nil || o.DB != 0 || o.Username != "" || o.Password != "p" || o.Addrs[0] != "h:1" {
		t.Errorf("%+v", o)
	}
}

// The name in the certificate is that of each server, of a sentinel and of a node too.
func TestRedisHosts(t *testing.T) {
	t.Parallel()
	o := mustRedis(t, "redis-sentinel://u:p@one,two:1/my%2Fmaster?db=2&tls=true&sentinel_user=s&sentinel_password="+strings.NewReplacer("&", "%26", ";", "%3B").Replace(escaped))
	if o.MasterName != "my/master" || o.DB != 2 || !slices.Equal(o.Addrs, []string{"one:26379", "two:1"}) {
		t.Errorf("%q %d %q", o.MasterName, o.DB, o.Addrs)
	}
	if o.SentinelUsername != "s" || o.SentinelPassword != hostile || o.Username != "u" || o.Password != "p" {
		t.Errorf("%q %q %q %q", o.SentinelUsername, o.SentinelPassword, o.Username, o.Password)
	}
	if o.TLSConfig == nil || o.TLSConfig.ServerName != "" || o.TLSConfig.InsecureSkipVerify {
		t.Errorf("TLS: %+v", o.TLSConfig)
	}
	for rawURL, want := range map[string]string{
		"redis://u:canary@h":                              "redis://h:6379/0",
		"rediss://u:canary@h:1/02":                        "rediss://h:1/2",
		"redis://:canary@/1?socket=/run/redis.sock":       "redis:///1?socket=/run/redis.sock",
		"redis-sentinel://:canary@a,b/main?tls_ca=f":      "redis-sentinel://a:26379,b:26379/main",
		"redis-cluster://u:canary@a,b:7/?semel_prefix=s:": "redis-cluster://a:6379,b:7",
	} {
		if got := redisName(redisAddress(t, rawURL)); got != want {
			t.Errorf("%s: got %s, want %s", rawURL, got, want)
		}
	}
}

// Each scheme has its client, and none reads from replicas, forgets deadlines or talks
// past the pool.
func TestRedisClients(t *testing.T) {
	t.Parallel()
	for rawURL, cluster := range map[string]bool{
		"redis://h": false, "rediss://h": false, "redis://?socket=/s": false, "redis-sentinel://h/m": false, "redis-cluster://h": true,
	} {
		client, err := redisClient(redisAddress(t, rawURL))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, is := client.(*redis.ClusterClient); is != cluster {
			t.Errorf("%s: a %T", rawURL, client)
		}
		if c, ok := client.(*redis.Client); ok && (!c.Options().ContextTimeoutEnabled || c.Options().PipelinePoolSize > 0) {
			t.Errorf("%s: %+v", rawURL, c.Options())
		}
	}
	socket, err := redisClient(redisAddress(t, "redis://u:p@/1?socket=/run/my%20redis.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if o := socket.(*redis.Client).Options(); o.Network != "unix" || o.Addr != "/run/my redis.sock" || o.DB != 1 {
		t.Errorf("%q %q %d", o.Network, o.Addr, o.DB)
	}
}

func TestRedisPasswordFromTheEnvironment(t *testing.T) {
	t.Setenv(redisPassword, hostile)
	t.Setenv(sentinelPassword, "of sentinels")
	if o := mustRedis(t, "redis-sentinel://u@h/m?sentinel_user=s"); o.Password != hostile || o.SentinelPassword != "of sentinels" {
		t.Errorf("%q %q", o.Password, o.SentinelPassword)
	}
	if o := mustRedis(t, "redis://u:@h"); o.Password != "" {
		t.Errorf("empty: %q", o.Password)
	}
	if o := mustRedis(t, "redis-cluster://:other@h"); o.Password != "other" {
		t.Errorf("other: %q", o.Password)
	}
}

func TestExposedRedis(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]string{
		"redis://u@redis.example":                        "unencrypted, with the answers in it; write rediss://",
		"rediss://u@redis.example":                       "",
		"rediss://u@redis.example?tls=skip-verify":       "not checked",
		"redis://u@127.0.0.1":                            "",
		"redis://u@?socket=/s":                           "",
		"redis-cluster://u@localhost,n.example":          "unencrypted, with the answers in it; add tls=true",
		"redis-sentinel://u@s.example/m?tls=false":       "unencrypted",
		"redis-sentinel://u@s.example/m?tls=skip-verify": "not checked",
		"redis-sentinel://u@s.example/m?tls=true":        "",
	} {
		if got := strings.Join(redisWarnings(redisAddress(t, rawURL)), "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", rawURL, got, want)
		}
	}
}

func TestRefusedRedisAddresses(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]string{
		"redis:h":                                    "write redis://USER:PASSWORD@HOST/0",
		"redis-sentinel:h":                           "write redis-sentinel://USER:PASSWORD@HOST,HOST,HOST/NAME",
		"valkey://u:canary@h":                        "write redis:// for Valkey too",
		"rediss-cluster://u:canary@h":                "tls=true",
		"redis://u:canary@h/master":                  "the number of a database",
		"redis://u:canary@h/-1":                      "the number of a database",
		"redis://u:canary@h/99999":                   "the number of a database",
		"redis://u:canary@h/0/1":                     "the number of a database",
		"redis://u:canary@":                          "name the host",
		"redis://u:canary@a,b":                       "redis-cluster://HOST",
		"redis://u:12/canary@h":                      "percent sign",
		"redis://u:x#canary@h":                       "percent sign",
		"redis://u:%zcanary@h":                       "percent sign",
		"redis://u:x/canary":                         "HOST:PORT",
		"redis://u:canary@h:0":                       "HOST:PORT",
		"redis://h?password=canary":                  "the environment",
		"redis://h?tls=true":                         "write rediss://",
		"redis://h?tls_ca=f":                         "write rediss://",
		"rediss://h?tls=false":                       "take tls=false out",
		"rediss://h?tls=skip-verify&tls_ca=f":        "need tls=true",
		"rediss://h?tls_cert=f":                      "need one another",
		"rediss://h?tls=1":                           "is not one of true, skip-verify, false",
		"redis://h?socket=/s":                        "take one of them out",
		"rediss://?socket=/s":                        "a socket goes with redis:// only",
		"redis://h?db=1":                             "stands after the host",
		"redis-cluster://h?sentinel_password=canary": "go with redis-sentinel:// only",
		"redis-sentinel://u:canary@h":                "the name that they give",
		"redis-sentinel://u:canary@h/a/b":            "the name that they give",
		"redis-sentinel://h/m?sentinel_user=s":       "needs sentinel_password",
		"redis-sentinel://h/m?db=one":                "no whole number from 0",
		"redis-cluster://u:canary@h/1":               "a cluster has one database",
		"redis://h?wait=0":                           "no whole number from 1",
		"redis://h?wait=1&wait=2":                    "2 times",
		"redis://h?allow_eviction=yes":               "is not one of true, false",
		"redis://h?alow_eviction=true":               "did you mean allow_eviction?",
		"redis://h?semel_prefix=a{b}":                "letters, digits",
		"redis://h?semel_timeout=5":                  "no duration",
		"redis://h?sslmode=require":                  `"sslmode" is no parameter`,
	} {
		err := Check(rawURL)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", rawURL, err, want)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the password is told: %v", rawURL, err)
		}
		if shown := Redacted(rawURL); strings.Contains(shown, "canary") {
			t.Errorf("%s: the password is shown: %s", rawURL, shown)
		}
	}
}

func TestRedactedRedis(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]string{
		"redis://h":                           "redis://h:6379/0",
		"redis://:" + escaped + "@h/2?wait=1": "redis://:xxxxx@h:6379/2?wait=1",
		"redis-sentinel://u:canary@a,b/m?sentinel_password=canary": "redis-sentinel://u:xxxxx@a:26379,b:26379/m?sentinel_password=xxxxx",
		"redis-cluster://u:canary@a,b":                             "redis-cluster://u:xxxxx@a:6379,b:6379/",
	} {
		if got := Redacted(rawURL); got != want {
			t.Errorf("%s: got %s, want %s", rawURL, got, want)
		}
	}
}

// What the store says in Go's words is said in those of an address too.
func TestSettingsAsParameters(t *testing.T) {
	t.Parallel()
	got := asParameter(errors.New("accept that with Options.AllowEviction"))
	if want := "accept that with Options.AllowEviction; in --store that is: add allow_eviction=true"; got.Error() != want {
		t.Errorf("got %q, want %q", got, want)
	}
	other := errors.New("no route to host")
	if got := asParameter(other); got != other {
		t.Errorf("got %v", got)
	}
}
