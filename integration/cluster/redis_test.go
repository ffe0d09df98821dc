package cluster

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/gateway"
)

// redisURL is the --store URL of records that no other test has.
func redisURL(t *testing.T, r *engines.RedisServer) string {
	t.Helper()
	own, prefix, _ := strings.Cut(r.Database(t), "#")
	return own + "?semel_prefix=" + prefix
}

// listURL is that of sentinels, or of a cluster's nodes.
func listURL(scheme, password, path string, servers []*engines.RedisServer) string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, s.Addr())
	}
	u := url.URL{Scheme: scheme, User: url.UserPassword("default", password), Host: "HOSTS", Path: path}
	return strings.Replace(u.String(), "HOSTS", strings.Join(hosts, ","), 1)
}

// Three gateways are one on a cluster too, whose slots are on three servers.
func TestThreeGatewaysOnRedisCluster(t *testing.T) {
	t.Parallel()
	c := engines.NewRedisCluster(t, nil)
	threeGateways(t, "Redis Cluster", listURL("redis-cluster", c.Nodes[0].Password(), "", c.Nodes[:2]))
}

// The primary is killed and Sentinel promotes a replica: keyed requests are refused
// meanwhile, and the gateway goes on by itself. What a replica had is replayed.
func TestSentinelPromotes(t *testing.T) {
	t.Parallel()
	set := engines.NewRedisSentinel(t, nil)
	store := listURL("redis-sentinel", set.Servers[0].Password(), "/semel", set.Sentinels) + "?wait=1"
	shop := newShop(t)
	g := gateway.StartOn(t, binary, shop.URL, store)
	c := newClient(t, g)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	recorded := mustPay(ctx, t, c, "recorded")
	primary := set.Primary(t)
	primary.Kill(t)
	refused(ctx, t, c, shop)
	set.AwaitFailover(t, primary)
	wantReady(ctx, t, g, http.StatusOK)
	if got := mustPay(ctx, t, c, "recorded"); got != recorded || shop.effectsOf("recorded") != 1 {
		t.Errorf("got %v after %d effects, want %v after one", got, shop.effectsOf("recorded"), recorded)
	}
	if got := mustPay(ctx, t, c, "refused"); got.status != http.StatusCreated || shop.effectsOf("refused") != 1 {
		t.Errorf("a refused request did not run later: %v, %d effects", got, shop.effectsOf("refused"))
	}
}

// The gateway and the operator's commands get along with the rights that the guide
// names, and a user without them is told which are missing.
func TestLimitedRedisUser(t *testing.T) {
	t.Parallel()
	r := engines.NewRedis(t, nil)
	store := url.URL{Scheme: "redis", User: url.UserPassword("semel", awkward), Host: r.Addr()}
	setUser := func(rules ...any) {
		t.Helper()
		if err := r.Client(t).Do(t.Context(), append([]any{"ACL", "SETUSER", "semel"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	setUser("on", ">"+awkward, "~semel:*", "&semel:*")
	if out, err := semel(t, "migrate", "--check", "--store", store.String()); err == nil || !strings.Contains(out, "lacks a right") || strings.Contains(out, "p@ss") {
		t.Errorf("without rights: %v\n%s", err, out)
	}
	for right := range strings.FieldsSeq("+eval +evalsha +time +get +set +setrange +del +publish +subscribe +unsubscribe +ping +scan +info +wait") {
		setUser(right)
	}
	shop := newShop(t)
	g := gateway.StartOn(t, binary, shop.URL, store.String(), "--wait", "5s")
	if got := mustPay(t.Context(), t, newClient(t, g), "order-1"); got.status != http.StatusCreated || shop.effectsOf("order-1") != 1 {
		t.Errorf("got %v, %d effects", got, shop.effectsOf("order-1"))
	}
	wantReady(t.Context(), t, g, http.StatusOK)
	must(t, "keys", "list", "--store", store.String())
	must(t, "keys", "get", "order-1", "--principal", "global", "--store", store.String())
	must(t, "keys", "delete", "order-1", "--principal", "global", "--store", store.String(), "--yes", "--reason", "test data")
	if out := must(t, "migrate", "--store", store.String()); !strings.Contains(out, "there is nothing to migrate") {
		t.Errorf("migrate says %q", out)
	}
}

// With rediss:// the server has to show a certificate of the named authority, with the
// name of the address or of tls_name.
func TestVerifiedConnectionsToRedis(t *testing.T) {
	t.Parallel()
	r := engines.NewRedisTLS(t)
	store, ca := r.URL(), "?tls_ca="+certificateOf(t, r)
	must(t, "migrate", "--store", store+ca)
	must(t, "migrate", "--store", store+ca+"&tls_name=localhost")
	must(t, "migrate", "--store", store+"?tls=skip-verify")
	for problem, bad := range map[string]string{
		"another authority": store + "?tls_ca=" + newCertificate(t).cert,
		"the system's own":  store,
		"another name":      store + ca + "&tls_name=redis.example",
	} {
		if out, err := semel(t, "migrate", "--store", bad); err == nil || !strings.Contains(out, "certificate") {
			t.Errorf("%s: %v\n%s", problem, err, out)
		}
	}
	if out, err := semel(t, "migrate", "--store", strings.Replace(store, "rediss", "redis", 1)); err == nil {
		t.Errorf("without TLS: %s", out)
	}
}

// certificateOf is a file with the certificate that a server shows.
func certificateOf(t *testing.T, r *engines.RedisServer) (file string) {
	t.Helper()
	conn, err := tls.Dial("tcp", r.Addr(), r.TLS())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	file = filepath.Join(t.TempDir(), "ca.pem")
	shown := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: conn.ConnectionState().PeerCertificates[0].Raw})
	if err := os.WriteFile(file, shown, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
