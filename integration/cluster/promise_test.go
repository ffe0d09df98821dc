package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/gateway"
)

// The log says at start what the server's settings take away.
func TestWarningsAtStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store    func(t *testing.T) string
		warnings []string
	}{
		"PostgreSQL": {
			func(t *testing.T) string { return engines.Postgres(t).Database(t) + "&synchronous_commit=off" },
			[]string{"synchronous_commit is off", "No commit waits for a standby"},
		},
		"MariaDB": {
			func(t *testing.T) string {
				settings := map[string]string{"innodb_flush_log_at_trx_commit": "0"}
				return mysqlURL(t, engines.NewMariaDB(t, &engines.Options{Settings: settings}).Database(t))
			},
			[]string{"innodb_flush_log_at_trx_commit is 0", "Replication is asynchronous or may become so"},
		},
		"Redis": {
			func(t *testing.T) string {
				settings := map[string]string{"appendfsync": "everysec", "maxmemory-policy": "allkeys-lru"}
				return redisURL(t, engines.NewRedis(t, &engines.Options{Settings: settings})) + "&allow_eviction=true"
			},
			[]string{"appendfsync is everysec", "maxmemory-policy is allkeys-lru"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gateway.StartOn(t, binary, newShop(t).URL, c.store(t))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			wantReady(ctx, t, g, http.StatusOK)
			for _, want := range c.warnings { // they come after the line that it listens
				until(ctx, t, "warning "+want, func() bool { return strings.Contains(g.Log(), want) })
			}
		})
	}
}

// What a server is, with nothing to mend, is told, and is no warning.
func TestFactsAreNoWarnings(t *testing.T) {
	t.Parallel()
	g := gateway.StartOn(t, binary, newShop(t).URL, redisURL(t, engines.Redis(t)))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, fact := range []string{"appendfsync always, maxmemory-policy noeviction", "there is no failover"} {
		until(ctx, t, "fact "+fact, func() bool { return strings.Contains(g.Log(), fact) })
	}
	for line := range strings.Lines(g.Log()) {
		if strings.Contains(line, "WARN") && !strings.Contains(line, "all callers share one scope") { // which they do here
			t.Errorf("a server with the safest settings is warned of: %s", line)
		}
	}
}

// A server that can never do is refused, with the fix.
func TestRefusedServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store func(t *testing.T) string
		want  string
	}{
		"standby": {
			func(t *testing.T) string {
				pg := engines.NewPostgres(t, nil)
				database := pg.Database(t)
				standby := pg.Standby(t)
				standby.CatchUp(t)
				return engines.Through(database, standby.Addr())
			},
			"connect to the primary",
		},
		"read-only MariaDB": {
			func(t *testing.T) string {
				m := engines.NewMariaDB(t, nil)
				database := m.Database(t)
				m.Set(t, "read_only", "1")
				return mysqlURL(t, database)
			},
			"connect to the primary",
		},
		"Redis that evicts": {
			func(t *testing.T) string {
				return redisURL(t, engines.NewRedis(t, &engines.Options{Settings: map[string]string{"maxmemory-policy": "allkeys-lru"}}))
			},
			"add allow_eviction=true",
		},
		"replica of Redis": {
			func(t *testing.T) string { return redisURL(t, engines.NewRedis(t, nil).Replica(t, nil)) },
			"write redis-sentinel://",
		},
		"no such schema": {
			func(t *testing.T) string { return engines.Postgres(t).Database(t) + "&search_path=nowhere" },
			"not in the search_path",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := c.store(t)
			out, err := semel(t, "proxy", "--upstream", "http://127.0.0.1:9", "--principal", "global", "--admin", "off", "--listen", "127.0.0.1:0", "--store", store)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("%v, want %q in\n%s", err, c.want, out)
			}
		})
	}
}

// One connection is enough to be right, also while duplicates wait.
func TestOneConnection(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		store := e.shared(t)
		sep := "?"
		if strings.Contains(store, "?") {
			sep = "&"
		}
		shop := newShop(t)
		g := gateway.StartOn(t, binary, shop.URL, store+sep+"pool_max_conns=1", "--wait", "10s")
		c := newClient(t, g)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var wait sync.WaitGroup
		for k := range 20 {
			for range 5 {
				wait.Go(func() {
					if got, err := c.pay(ctx, 0, keyOf(k)); err != nil || got.status != http.StatusCreated {
						t.Errorf("%v, %v", got, err)
					}
				})
			}
		}
		wait.Wait()
		wantMetric(ctx, t, g, "semel_store_connections_max 1")
		wantMetric(ctx, t, g, `semel_store_connections{state="idle"} 1`)
		for k := range 20 {
			if n := shop.effectsOf(keyOf(k)); n != 1 {
				t.Errorf("%s: %d effects", keyOf(k), n)
			}
		}
	})
}
