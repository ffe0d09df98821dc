package redisstore

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel"
)

// server is what a server with the safest settings tells, but for some.
func server(fsync string, but map[string]string) *facts {
	info := map[string]string{
		"redis_version": "7.2.4", "role": "master", "maxmemory_policy": "noeviction", "aof_enabled": "1", "connected_slaves": "0", "cluster_enabled": "0",
	}
	maps.Copy(info, but)
	return &facts{info: info, fsync: fsync}
}

// The table of docs/store-redis.md.
func TestPromises(t *testing.T) {
	t.Parallel()
	const yes, no, unknown = semel.Yes, semel.No, semel.Unknown
	for _, c := range []struct {
		name     string
		facts    *facts
		sentinel bool
		replicas int
		want     [4]semel.Answer // register, engine crash, power loss, failover
		note     string
	}{
		{"AOF always", server("always", nil), false, 0, [4]semel.Answer{yes, yes, yes, no}, ""},
		{"AOF everysec", server("everysec", nil), false, 0, [4]semel.Answer{yes, yes, no, no}, "appendfsync is everysec"},
		{"AOF, fsync not told", server("", nil), false, 0, [4]semel.Answer{yes, yes, unknown, no}, "does not tell its appendfsync"},
		{"no AOF", server("always", map[string]string{"aof_enabled": "0"}), false, 0, [4]semel.Answer{yes, no, no, no}, "set appendonly yes"},
		{"replicas", server("always", map[string]string{"connected_slaves": "2"}), false, 0, [4]semel.Answer{unknown, unknown, unknown, no}, "Options.Replicas narrows"},
		{"replicas that are waited for", server("always", map[string]string{"connected_slaves": "2"}), false, 1, [4]semel.Answer{unknown, unknown, unknown, no}, "does not close it"},
		{"too few replicas", server("always", map[string]string{"connected_slaves": "1"}), false, 2, [4]semel.Answer{unknown, unknown, unknown, no}, "will not succeed"},
		{"no replica, though they are waited for", server("always", nil), false, 1, [4]semel.Answer{yes, yes, yes, no}, "has 0 now: they will not succeed"},
		{"Sentinel", server("always", nil), true, 0, [4]semel.Answer{no, unknown, unknown, no}, "Sentinel promotes"},
		{"Cluster", server("always", map[string]string{"cluster_enabled": "1"}), false, 0, [4]semel.Answer{no, unknown, unknown, no}, "This is a cluster"},
		{"Cluster without AOF", server("", map[string]string{"cluster_enabled": "1", "aof_enabled": "0"}), false, 0, [4]semel.Answer{no, no, no, no}, "appendonly is off"},
		{"eviction", server("always", map[string]string{"maxmemory_policy": "allkeys-lru"}), false, 0, [4]semel.Answer{no, yes, yes, no}, "allkeys-lru"},
		{"a replica", server("always", map[string]string{"role": "slave"}), false, 0, [4]semel.Answer{no, yes, yes, no}, "is a replica now"},
		{"nothing told", &facts{info: map[string]string{}}, false, 0, [4]semel.Answer{unknown, unknown, unknown, no}, "does not tell its maxmemory-policy"},
	} {
		p := newPromise()
		p.server(c.facts)
		p.failover(c.facts, c.sentinel, c.replicas)
		got := [4]semel.Answer{p.SingleRegister, p.SurvivesEngineCrash, p.SurvivesPowerLoss, p.SurvivesFailover}
		if got != c.want || p.SurvivesProcess != yes {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
		if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, c.note) }) && len(p.Notes)+len(c.note) > 0 {
			t.Errorf("%s: the notes %q do not say %q", c.name, p.Notes, c.note)
		}
		if !strings.Contains(p.Facts[0], "appendonly") {
			t.Errorf("%s: the facts are %q", c.name, p.Facts)
		}
	}
}

// Of several servers the weakest counts, and what is true of all is said once.
func TestPromiseOfTheWeakest(t *testing.T) {
	t.Parallel()
	p := newPromise()
	for _, f := range []*facts{server("always", nil), server("everysec", nil), server("always", nil)} {
		p.server(f)
		p.failover(f, false, 0)
	}
	if p.SurvivesPowerLoss != semel.No {
		t.Errorf("power loss: %v", p.SurvivesPowerLoss)
	}
	if first := "redis 7.2.4, 0 replicas; appendonly yes, appendfsync always, maxmemory-policy noeviction."; p.Facts[0] != first || slices.Contains(p.Facts[1:], first) {
		t.Errorf("facts: %q; want %q once", p.Facts, first)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{"5.0.14": true, "6.0.16": true, "6.2.0": false, "7.0.15": false, "8.2.1": false, "10.0.0": false, "": false} {
		if got := server("", map[string]string{"redis_version": version}).old(); got != old {
			t.Errorf("version %q is too old: %v; want %v", version, got, old)
		}
	}
	valkey := server("always", map[string]string{"valkey_version": "8.1.0"})
	if text := valkey.String(); valkey.product() != "valkey" || !strings.HasPrefix(text, "valkey 8.1.0, ") {
		t.Errorf("%s: %s", valkey.product(), text)
	}
}
