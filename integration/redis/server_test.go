package redis_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// cycle claims a new key and finishes it.
func cycle(ctx context.Context, s *redisstore.Store) error { return cycleWith(ctx, s, "result") }

func cycleWith(ctx context.Context, s *redisstore.Store, result string) error {
	p := claimOf(newKey(), semel.NewToken())
	res, err := s.Claim(ctx, p)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		return errors.Join(err, right(res.Outcome == semel.ClaimAcquired, nil))
	}
	_, err = s.Finish(ctx, doneOf(p.Key, p.Token, result))
	return err
}

// load lets callers go in cycles until they are stopped, and gives each error to judge.
func load(ctx context.Context, callers int, s *redisstore.Store, judge func(error)) (cycles *counter, stop func()) {
	cycles = newCounter()
	var all sync.WaitGroup
	stopped := make(chan struct{})
	for range callers {
		all.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				if err := cycle(ctx, s); err != nil {
					judge(err)
				} else {
					cycles.add()
				}
			}
		})
	}
	return cycles, func() { close(stopped); all.Wait() }
}

// counter counts what happens, for those who wait for more.
type counter struct {
	grows sync.Cond
	n     int
}

func newCounter() *counter { return &counter{grows: sync.Cond{L: new(sync.Mutex)}} }

func (c *counter) add() {
	c.grows.L.Lock()
	defer c.grows.L.Unlock()
	c.n++
	c.grows.Broadcast()
}

// awaitMore waits until it happened so many times more.
func (c *counter) awaitMore(n int) {
	c.grows.L.Lock()
	defer c.grows.L.Unlock()
	for want := c.n + n; c.n < want; {
		c.grows.Wait()
	}
}

// Field fault: NOSCRIPT after a restart. Nobody notices that the server has forgotten
// the scripts.
func TestScriptsForgotten(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	store := openStore(t, clientOf(t, server.URL()), nil)
	admin := server.Client(t)
	cycles, stop := load(t.Context(), 32, store, func(err error) { t.Errorf("while scripts are forgotten: %v", err) })
	for range 50 {
		cycles.awaitMore(5)
		if err := admin.ScriptFlush(t.Context()).Err(); err != nil {
			t.Error(err)
		}
	}
	stop()
	server.Stop(t)
	server.Restart(t)
	for range 3 {
		if err := cycle(t.Context(), store); err != nil && !noReply(err) {
			t.Errorf("after a restart: %v", err)
		}
	}
	if err := cycle(t.Context(), store); err != nil {
		t.Errorf("after a restart, on new connections: %v", err)
	}
}

// A full server refuses new claims, and lets the runs that there are come to their end.
func TestServerFull(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	store := openStore(t, clientOf(t, server.URL()), nil)
	done, held := claimOf(newKey(), semel.NewToken()), claimOf(newKey(), semel.NewToken())
	acquire(t, store, done)
	finish(t, store, doneOf(done.Key, done.Token, "replayed"))
	acquire(t, store, held)
	server.Set(t, "maxmemory", "1")

	if _, err := store.Claim(t.Context(), claimOf(newKey(), semel.NewToken())); !errors.Is(err, semel.ErrStoreFull) || noReply(err) {
		t.Errorf("a new claim: %v; want ErrStoreFull", err)
	}
	other := done
	other.Token = semel.NewToken()
	if res, err := store.Claim(t.Context(), other); err != nil || string(res.Record.Result.Data) != "replayed" {
		t.Errorf("a replay: %v, %v", res.Outcome, err)
	}
	if _, err := store.Renew(t.Context(), semel.RenewParams{Key: held.Key, Token: held.Token, Lease: 2 * lease}); err != nil {
		t.Errorf("a renewal: %v", err)
	}
	acquire(t, store, held) // again, with the same token
	if _, err := store.Finish(t.Context(), doneOf(held.Key, held.Token, "a result")); !errors.Is(err, semel.ErrStoreFull) {
		t.Errorf("a finish with a result: %v; want ErrStoreFull", err)
	}
	if r := read(t, store, held.Key); r.State != semel.StateRunning {
		t.Errorf("after that the record is %v", r.State)
	}
	finish(t, store, doneOf(held.Key, held.Token, "")) // as a tombstone
	if r := read(t, store, held.Key); r.State != semel.StateDone {
		t.Errorf("after a finish without a result the record is %v", r.State)
	}
	if _, err := redisstore.New(t.Context(), clientOf(t, server.URL()), nil); err != nil {
		t.Errorf("a process that starts meanwhile: %v", err)
	}
	server.Set(t, "maxmemory", "0")
	acquire(t, store, claimOf(newKey(), semel.NewToken()))
}

func errOf[R any](_ R, err error) error { return err }

// Somebody else's script that runs for long blocks the server: BUSY is a refusal.
func TestServerBusy(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, &engines.Options{Settings: map[string]string{"busy-reply-threshold": "50"}})
	store := openStore(t, clientOf(t, server.URL()), nil)
	admin := server.Client(t)
	ended := make(chan error, 1)
	go func() { ended <- admin.Eval(t.Context(), "while true do end", nil).Err() }()
	for {
		_, err := store.Claim(t.Context(), claimOf(newKey(), semel.NewToken()))
		if err != nil {
			if !unavailable(err) || !strings.Contains(err.Error(), "BUSY") {
				t.Errorf("a claim at a busy server: %v; want unavailable", err)
			}
			break
		}
	}
	if err := clientOf(t, server.URL()).Do(t.Context(), "SCRIPT", "KILL").Err(); err != nil {
		t.Fatal(err)
	}
	<-ended
	acquire(t, store, claimOf(newKey(), semel.NewToken()))
}

// Field fault: records that are evicted are live leases that can be taken again.
func TestEvictionRefused(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, &engines.Options{Settings: map[string]string{"maxmemory-policy": "volatile-lru"}})
	client := clientOf(t, server.URL())
	_, err := redisstore.New(t.Context(), client, nil)
	for _, want := range []string{"volatile-lru", "noeviction", "AllowEviction"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a server that evicts: %v; want a refusal that names %s", err, want)
		}
	}
	store := openStore(t, client, &redisstore.Options{AllowEviction: true})
	g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil || g.SingleRegister != semel.No || !strings.Contains(strings.Join(g.Notes, " "), "volatile-lru") {
		t.Errorf("what it promises with AllowEviction: %+v, %v", g, err)
	}
	server.Set(t, "maxmemory-policy", "noeviction")
	openStore(t, client, nil)
}

func TestClusterNodeNeedsClusterClient(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, &engines.Options{Settings: map[string]string{"cluster-enabled": "yes", "cluster-port": "0"}})
	if _, err := redisstore.New(t.Context(), clientOf(t, server.URL()), nil); err == nil || !strings.Contains(err.Error(), "NewClusterClient") {
		t.Errorf("a plain client of a cluster's node: %v; want a refusal with the fix", err)
	}
}

// What a user may not do shows at start, with its name.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	server := engines.NewRedis(t, nil)
	secret := grant(t, server)
	options := &redis.Options{Addr: server.Addr(), Username: "semel", Password: secret, MaxRetries: -1, ContextTimeoutEnabled: true}
	prefix := &redisstore.Options{Prefix: "case:", Replicas: 1}
	for _, right := range []string{"eval", "evalsha", "get", "set", "setrange", "del", "time", "wait"} {
		withRight(t, server, "-"+right)
		client := redis.NewClient(options)
		_, err := redisstore.New(t.Context(), client, prefix)
		if err == nil || !strings.Contains(err.Error(), "docs/store-redis.md") {
			t.Errorf("without the right to %s: %v; want a refusal with the fix", right, err)
		}
		closeLater(t, client.Close)
		withRight(t, server, "+"+right)
	}
	withRight(t, server, "-publish")
	client := redis.NewClient(options)
	closeLater(t, client.Close)
	store := openStore(t, client, prefix)
	if _, err := store.WaitChange(t.Context(), semel.WaitParams{}); !errors.Is(err, semel.ErrUnsupported) {
		t.Errorf("a wait without the right to publish: %v; want ErrUnsupported", err)
	}
}

func withRight(t testing.TB, server *engines.RedisServer, rule string) {
	t.Helper()
	if err := server.Client(t).Do(t.Context(), "ACL", "SETUSER", "semel", rule).Err(); err != nil {
		t.Fatal(err)
	}
}

// A key that somebody else has written is no record, and no reason to run.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	client := clientOf(t, engines.Redis(t).URL())
	prefix := newPrefix()
	store := openStore(t, client, &redisstore.Options{Prefix: prefix})
	short, list := newKey(), newKey()
	if err := errors.Join(client.Set(t.Context(), prefix+short.String(), "\x01foreign", 0).Err(), client.RPush(t.Context(), prefix+list.String(), "x").Err()); err != nil {
		t.Fatal(err)
	}
	for _, key := range []semel.KeyID{short, list} {
		_, err := store.Claim(t.Context(), claimOf(key, semel.NewToken()))
		if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
			t.Errorf("a claim of it: %v; want a RecordFormatError", err)
		}
	}
	unreadable := make(map[semel.KeyID]bool)
	for p := (semel.ListParams{Limit: 10}); ; {
		page, err := store.List(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			unreadable[r.Key] = r.State == semel.StateUnreadable
		}
		if p.Cursor = page.Next; p.Cursor == "" {
			break
		}
	}
	if len(unreadable) != 2 || !unreadable[short] || !unreadable[list] {
		t.Errorf("listed: %v; want both as unreadable", unreadable)
	}
}
