package storeurl

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// The schemes of Redis.
const (
	redisPlain    = "redis"
	redisTLS      = "rediss"
	redisSentinel = "redis-sentinel"
	redisCluster  = "redis-cluster"
)

// The variables of passwords that no address has.
const (
	redisPassword    = "REDIS_PASSWORD"
	sentinelPassword = "REDIS_SENTINEL_PASSWORD"
)

const (
	allowEviction = "allow_eviction"
	waitReplicas  = "wait"
	mostDatabases = 1 << 14
)

var redisParameters = slices.Concat([]parameter{
	{"tls", oneOf(tlsVerified, tlsUnverified, tlsOff)},
	{"socket", anything},
	{"db", func(value string) error { return within(value, 0, mostDatabases) }},
	{"sentinel_user", anything},
	{"sentinel_password", anything},
	{allowEviction, oneOf("true", "false")},
	{waitReplicas, func(value string) error { return within(value, 1, 100) }},
	{tablePrefix, matches(`^[A-Za-z0-9_:./-]{1,100}$`, "up to 100 letters, digits and _ : . / -")},
}, certificates, pooled)

// checkRedis refuses what contradicts itself, or would be silently without effect.
func checkRedis(a address) error {
	socket, mode := a.params["socket"], a.params["tls"]
	single := a.scheme == redisPlain || a.scheme == redisTLS
	forSentinel := a.params["db"] != "" || a.params["sentinel_user"] != "" || a.params["sentinel_password"] != ""
	return errors.Join(
		refuse(single && len(a.hosts) > 1, "one host can be named; several sentinels are redis-sentinel://HOST,HOST,HOST/NAME, several nodes of a cluster redis-cluster://HOST,HOST,HOST"),
		refuse(socket == "" && len(a.hosts) == 0, "name the host after the @; or with redis:// a socket: ?socket=/run/redis/redis.sock"),
		refuse(socket != "" && len(a.hosts) > 0, "a socket and a host are there; take one of them out"),
		refuse(socket != "" && a.scheme != redisPlain, "a socket goes with redis:// only"),
		refuse(a.scheme == redisPlain && (a.usesCertificates() || mode == tlsVerified || mode == tlsUnverified), "redis:// has no TLS; write rediss:// for it"),
		refuse(a.scheme == redisTLS && mode == tlsOff, "rediss:// is with TLS; take tls=false out, or write redis://"),
		refuse(a.scheme != redisSentinel && forSentinel, "db, sentinel_user and sentinel_password go with redis-sentinel:// only; the number of the database stands after the host of redis://, and a cluster has one"),
		refuse(a.params["sentinel_user"] != "" && a.params["sentinel_password"] == "" && os.Getenv(sentinelPassword) == "", "sentinel_user needs sentinel_password, or the variable "+sentinelPassword),
		a.checkCertificates())
}

// databaseNumber is that of redis://HOST/NUMBER.
func databaseNumber(path string) (string, error) {
	number := cmp.Or(strings.TrimPrefix(path, "/"), "0")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n > mostDatabases {
		return "", errors.New("after the host of redis:// stands the number of a database, such as @HOST/0, or nothing")
	}
	return strconv.FormatUint(n, 10), nil
}

// masterName is what sentinels call the servers that they look after.
func masterName(path string) (string, error) {
	return named(path, errors.New("after the sentinels stands the name that they give to the primary and its replicas, such as @HOST,HOST,HOST/mymaster"))
}

func noDatabase(path string) (string, error) {
	return "", refuse(path != "" && path != "/" && path != "/0", "a cluster has one database; let the address end with the hosts: @HOST,HOST,HOST")
}

// redisClient translates an address in which check and checkRedis have found nothing
// wrong. It does not connect.
func redisClient(a address) (redis.UniversalClient, error) {
	o, err := redisOptions(a)
	if err != nil {
		return nil, err
	}
	switch a.scheme {
	case redisSentinel:
		return redis.NewFailoverClient(o.Failover()), nil
	case redisCluster:
		return redis.NewClusterClient(o.Cluster()), nil
	}
	single := o.Simple()
	if socket := a.params["socket"]; socket != "" {
		single.Network, single.Addr = "unix", socket
	}
	return redis.NewClient(single), nil
}

// redisOptions leaves repeating to the engine, which knows better when, and pipelines
// to the store, in the pool that is counted.
func redisOptions(a address) (o *redis.UniversalOptions, err error) {
	timeout := a.duration(callTimeout, defaultCallTimeout)
	o = &redis.UniversalOptions{
		Addrs: a.hosts, Username: a.user, Password: a.password,
		DialTimeout: time.Duration(a.int(connectTimeout, defaultConnectTimeout)) * time.Second,
		ReadTimeout: timeout, WriteTimeout: timeout, ContextTimeoutEnabled: true,
		MaxRetries: -1, DialerRetries: 1,
		PoolSize: a.int(poolMaxConns, defaultMaxConns), PipelinePoolSize: -1,
		ConnMaxLifetime: a.duration(poolMaxLifetime, defaultMaxLifetime), ConnMaxIdleTime: a.duration(poolMaxIdleTime, defaultMaxIdleTime),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if !a.hasPassword {
		o.Password = os.Getenv(redisPassword)
	}
	switch a.scheme {
	case redisSentinel:
		o.MasterName, o.DB = a.database, a.int("db", 0)
		o.SentinelUsername, o.SentinelPassword = a.params["sentinel_user"], cmp.Or(a.params["sentinel_password"], os.Getenv(sentinelPassword))
	case redisPlain, redisTLS:
		o.DB, err = strconv.Atoi(a.database)
	}
	if err != nil {
		return nil, err
	}
	o.TLSConfig, err = tlsOf(a)
	return o, err
}

// tlsOf is nil without TLS.
func tlsOf(a address) (*tls.Config, error) {
	switch redisMode(a) {
	case tlsVerified:
		return verifiedTLS("", a.params)
	case tlsUnverified:
		return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}, nil // asked for by that name, and warned of
	}
	return nil, nil
}

func redisMode(a address) string {
	if a.params["tls"] == "" && (a.scheme == redisTLS || a.usesCertificates()) {
		return tlsVerified
	}
	return cmp.Or(a.params["tls"], tlsOff)
}

// redisName is where the connections lead, without credentials.
func redisName(a address) string {
	if socket := a.params["socket"]; socket != "" {
		return fmt.Sprintf("redis:///%s?socket=%s", a.database, socket)
	}
	return strings.TrimSuffix(fmt.Sprintf("%s://%s/%s", a.scheme, strings.Join(a.hosts, ","), a.database), "/")
}

func redisWarnings(a address) []string {
	elsewhere := func(hostPort string) bool {
		host, _, err := net.SplitHostPort(hostPort)
		return err == nil && isElsewhere(host)
	}
	if !slices.ContainsFunc(a.hosts, elsewhere) {
		return nil
	}
	fix := "add tls=true to --store"
	switch {
	case a.scheme == redisPlain:
		fix = "write rediss:// in --store"
	case a.scheme == redisTLS:
		fix = "take tls=skip-verify out of --store"
	}
	return exposed(redisMode(a) == tlsOff, redisMode(a) == tlsUnverified, fix)
}
