package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// facts are what a promise depends on, of one server. What it does not tell is empty.
type facts struct {
	info  map[string]string // INFO
	fsync string            // appendfsync
}

// ask asks a server. Managed services and ACL rules forbid CONFIG, and some INFO: what
// nobody may know is unknown, and no error.
func ask(ctx context.Context, client *redis.Client) (f facts, err error) {
	text, err := client.Info(ctx).Result()
	if err != nil && codeOf(err) != "NOPERM" {
		return f, err
	}
	f.info = infoOf(text)
	set, err := client.ConfigGet(ctx, "appendfsync").Result()
	if err != nil && !isReply(err) {
		return f, err
	}
	f.fsync = set["appendfsync"]
	return f, nil
}

// infoOf reads lines of "name:value".
func infoOf(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

func (f *facts) policy() string { return f.info["maxmemory_policy"] }

func (f *facts) evicts() bool { return f.policy() != "" && f.policy() != "noeviction" }

func (f *facts) clustered() bool { return f.info["cluster_enabled"] == "1" }

func (f *facts) replica() bool { return f.info["role"] == "slave" }

func (f *facts) replicas() int {
	n, _ := strconv.Atoi(f.info["connected_slaves"]) // none if it does not tell
	return n
}

// product is who made the server.
func (f *facts) product() string {
	if f.info["valkey_version"] != "" {
		return "valkey"
	}
	return "redis"
}

// String is what a server is, in a sentence.
func (f *facts) String() string {
	told := func(name string) string { return cmp.Or(f.info[name], "unknown") }
	text := fmt.Sprintf("%s %s, %d replicas; appendonly %s, appendfsync %s, maxmemory-policy %s", f.product(), cmp.Or(f.info["valkey_version"], told("redis_version")),
		f.replicas(), onOff(f.info["aof_enabled"]), cmp.Or(f.fsync, "unknown"), told("maxmemory_policy"))
	if f.clustered() {
		text += "; one of a cluster"
	}
	return text + "."
}

func onOff(flag string) string {
	switch flag {
	case "0":
		return "no"
	case "1":
		return "yes"
	}
	return "unknown"
}

// old reports a version of Redis before 6.2, where SET has no PXAT. Other products
// tell which version they are compatible with.
func (f *facts) old() bool {
	var major, minor int
	if _, err := fmt.Sscanf(f.info["redis_version"], "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < 6 || major == 6 && minor < 2
}
