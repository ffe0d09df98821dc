package engines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisCluster is three primaries with a third of the slots each, and a replica of each.
// A replica takes over about two seconds after its primary fell silent.
type RedisCluster struct {
	Nodes []*RedisServer // the first three are the primaries until the first failover
	ids   map[*RedisServer]string
}

const clusterSlots = 16384

// NewRedisCluster is a cluster for this test alone, which ends with it. The options are
// those of its nodes.
func NewRedisCluster(t testing.TB, o *Options) *RedisCluster {
	t.Helper()
	c := &RedisCluster{ids: map[*RedisServer]string{}}
	secret := password()
	for range 6 {
		c.Nodes = append(c.Nodes, private(t, func(g *group) (*RedisServer, error) { return startClusterNode(g, secret, o) }))
	}
	if err := c.join(); err != nil {
		t.Fatal(err)
	}
	return c
}

func startClusterNode(g *group, secret string, o *Options) (*RedisServer, error) {
	bus, err := g.freePort()
	if err != nil {
		return nil, err
	}
	settings := map[string]string{
		"cluster-enabled":      "yes",
		"cluster-port":         fmt.Sprint(bus),
		"cluster-node-timeout": "1500",
		"cluster-config-file":  "nodes.conf",
		// A failover is not to depend on how long a replica was cut off.
		"cluster-replica-validity-factor": "0",
	}
	maps.Copy(settings, o.settings())
	r, err := newRedis(g, "redis-server", secret, &Options{Settings: settings})
	if err != nil {
		return nil, err
	}
	r.name = "Redis Cluster"
	r.bus = bus
	return r, g.start(r.instance)
}

// join makes the nodes a cluster and waits until all agree.
func (c *RedisCluster) join() error {
	first := c.Nodes[0]
	for i, n := range c.Nodes {
		id, err := n.text("CLUSTER", "MYID")
		if err != nil {
			return err
		}
		c.ids[n] = id
		if i < 3 {
			err = n.do(context.Background(), "CLUSTER", "ADDSLOTSRANGE", i*clusterSlots/3, (i+1)*clusterSlots/3-1)
		}
		if i > 0 {
			err = errors.Join(err, n.do(context.Background(), "CLUSTER", "MEET", "127.0.0.1", first.port, first.bus))
		}
		if err != nil {
			return err
		}
	}
	for _, n := range c.Nodes {
		if err := n.untilKnows(len(c.Nodes)); err != nil {
			return err
		}
	}
	for i, n := range c.Nodes[3:] {
		if err := n.do(context.Background(), "CLUSTER", "REPLICATE", c.ids[c.Nodes[i]]); err != nil {
			return err
		}
	}
	for i, n := range c.Nodes {
		if err := c.untilReady(n, i >= 3); err != nil {
			return err
		}
	}
	return nil
}

// untilKnows waits until a node knows all others by name.
func (r *RedisServer) untilKnows(nodes int) error {
	return r.untilTrue("it knows the others", func(ctx context.Context, c *redis.Client) (bool, error) {
		text, err := c.ClusterNodes(ctx).Result()
		return strings.Count(text, " connected") == nodes && !strings.Contains(text, "handshake"), err
	})
}

// untilReady waits until a node sees the whole cluster work, and all replicas.
func (c *RedisCluster) untilReady(n *RedisServer, replica bool) error {
	if replica {
		if err := n.until("master_link_status", "up"); err != nil {
			return err
		}
	}
	return n.untilTrue("the cluster is whole", func(ctx context.Context, client *redis.Client) (bool, error) {
		info, err := client.ClusterInfo(ctx).Result()
		if err != nil {
			return false, err
		}
		nodes, err := client.ClusterNodes(ctx).Result()
		return infoOf(info)["cluster_state"] == "ok" && strings.Count(nodes, "slave ") == len(c.Nodes)-3, err
	})
}

// text executes a command of the administrator whose reply is a text.
func (r *RedisServer) text(command ...any) (text string, err error) {
	err = r.session(context.Background(), func(ctx context.Context, c *redis.Client) (err error) {
		text, err = c.Do(ctx, command...).Text()
		return err
	})
	return text, err
}

// Options are those of a client.
func (c *RedisCluster) Options() *redis.ClusterOptions {
	o := &redis.ClusterOptions{Password: c.Nodes[0].password, ContextTimeoutEnabled: true}
	for _, n := range c.Nodes {
		o.Addrs = append(o.Addrs, n.Addr())
	}
	return o
}

// Owner is the primary of a key's slot, as the node sees it, which must be alive.
func (c *RedisCluster) Owner(t testing.TB, asked *RedisServer, key string) *RedisServer {
	t.Helper()
	client := asked.client()
	defer client.Close()
	slot, err := client.ClusterKeySlot(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := client.ClusterNodes(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(nodes) {
		// name, address, flags, primary, ping, pong, epoch, link, slots; those of primaries only
		fields := strings.Fields(line)
		if len(fields) > 8 && slices.ContainsFunc(fields[8:], func(slots string) bool { return has(slots, int(slot)) }) {
			return c.named(fields[0])
		}
	}
	t.Fatalf("no node has slot %d", slot)
	return nil
}

// has reads a slot or a range of slots, as CLUSTER NODES writes them.
func has(slots string, slot int) bool {
	first, last, isRange := strings.Cut(slots, "-")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	return err == nil && err2 == nil && from <= slot && slot <= to
}

func (c *RedisCluster) named(id string) *RedisServer {
	for n, is := range c.ids {
		if is == id {
			return n
		}
	}
	return nil
}

// AwaitFailover waits until a node sees another primary of a key's slot than this one,
// and the cluster whole.
func (c *RedisCluster) AwaitFailover(t testing.TB, asked, from *RedisServer, key string) *RedisServer {
	t.Helper()
	for {
		if owner := c.Owner(t, asked, key); owner != from {
			if err := owner.until("role", "master"); err != nil {
				t.Fatal(err)
			}
			return owner
		}
		if t.Context().Err() != nil {
			t.Fatal("no other node took over")
		}
	}
}

// MoveSlot moves the slot of a key with all that is in it, as redis-cli does. meanwhile is
// called when half of it is done: clients are told ASK for what has moved.
func (c *RedisCluster) MoveSlot(t testing.TB, from, to *RedisServer, key string, meanwhile func()) {
	t.Helper()
	move := func(client *redis.Client, command ...any) {
		t.Helper()
		if err := client.Do(t.Context(), command...).Err(); err != nil {
			t.Fatal(command, err)
		}
	}
	source, target := from.Client(t), to.Client(t)
	slot := source.ClusterKeySlot(t.Context(), key).Val()
	move(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", c.ids[from])
	move(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", c.ids[to])
	for {
		keys, err := source.ClusterGetKeysInSlot(t.Context(), int(slot), 10).Result()
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 0 {
			break
		}
		command := []any{"MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "AUTH", to.password, "KEYS"}
		for _, k := range keys {
			command = append(command, k)
		}
		move(source, command...)
	}
	meanwhile()
	for _, client := range []*redis.Client{target, source} {
		move(client, "CLUSTER", "SETSLOT", slot, "NODE", c.ids[to])
	}
}
