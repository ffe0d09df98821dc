package cluster

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// A database server that is killed and comes back: meanwhile keyed requests are
// refused with 503 and reach nobody, readiness says so, and nobody has to restart the
// gateway. What was recorded is replayed; what was running when it went away is saved
// when it is back.
//
// Field faults: an error on read lets the request through unguarded; saving fails after
// success, the client is told 500 and the work runs twice.
func TestDatabaseGoesAway(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		server, url := e.alone(t)
		shop := newShop(t)
		g := gateway.StartOn(t, binary, shop.URL, url, "--lease", "60s")
		c := newClient(t, g)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		recorded := mustPay(ctx, t, c, "recorded")

		running, arrived, release := make(chan answer, 1), make(chan struct{}), make(chan struct{})
		shop.holding(func(*http.Request) { close(arrived); <-release })
		go func() {
			got, err := c.once(ctx, 0, "running")
			if err != nil {
				t.Error(err)
			}
			running <- got
		}()
		<-arrived
		shop.holding(nil)
		server.Kill(t)
		close(release)
		first := <-running
		if first.status != http.StatusCreated {
			t.Errorf("the client whose operation took effect got %v", first)
		}
		refused(ctx, t, c, shop)
		wantReady(ctx, t, g, http.StatusServiceUnavailable)
		wantMetric(ctx, t, g, "semel_background_saves_pending 1")

		server.Restart(t)
		wantReady(ctx, t, g, http.StatusOK)
		wantMetric(ctx, t, g, "semel_background_saves_pending 0")
		for key, want := range map[string]answer{"recorded": recorded, "running": first} {
			if got := mustPay(ctx, t, c, key); got != want || shop.effectsOf(key) != 1 {
				t.Errorf("%s: got %v after %d effects, want %v after one", key, got, shop.effectsOf(key), want)
			}
		}
		if got := mustPay(ctx, t, c, "refused"); got.status != http.StatusCreated || shop.effectsOf("refused") != 1 {
			t.Errorf("a refused request did not run later: %v", got)
		}
	})
}

// A server that hangs holds no request for longer than the claim's timeouts, and
// none gets through.
func TestDatabaseHangs(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		server, url := e.alone(t)
		shop := newShop(t)
		c := newClient(t, gateway.StartOn(t, binary, shop.URL, url))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		recorded := mustPay(ctx, t, c, "recorded")
		server.Pause(t)
		refused(ctx, t, c, shop)
		server.Resume(t)
		if got := mustPay(ctx, t, c, "recorded"); got != recorded {
			t.Errorf("got %v, want %v", got, recorded)
		}
		if got := mustPay(ctx, t, c, "refused"); got.status != http.StatusCreated || shop.effectsOf("refused") != 1 {
			t.Errorf("a refused request did not run later: %v, %d effects", got, shop.effectsOf("refused"))
		}
	})
}

func mustPay(ctx context.Context, t *testing.T, c *client, key string) answer {
	t.Helper()
	got, err := c.pay(ctx, 0, key)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// refused wants the request "refused" to be answered so, and not to run.
func refused(ctx context.Context, t *testing.T, c *client, shop *shop) {
	t.Helper()
	got, err := c.once(ctx, 0, "refused")
	if err != nil || got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "store-unavailable") {
		t.Errorf("without the database: %v, %v; want 503 store-unavailable", got, err)
	}
	if n := shop.effectsOf("refused"); n != 0 {
		t.Errorf("%d effects without the database", n)
	}
}

// wantReady waits until readiness is as it should be.
func wantReady(ctx context.Context, t *testing.T, g *gateway.Process, status int) {
	t.Helper()
	eventually(ctx, t, g.Admin+"/readyz", func(got int, _ string) bool { return got == status })
}

// wantMetric waits until the metrics have a line.
func wantMetric(ctx context.Context, t *testing.T, g *gateway.Process, line string) {
	t.Helper()
	eventually(ctx, t, g.Admin+"/metrics", func(_ int, body string) bool { return strings.Contains(body, "\n"+line+"\n") })
}

func eventually(ctx context.Context, t *testing.T, url string, good func(status int, body string) bool) {
	t.Helper()
	until(ctx, t, "good answer of "+url, func() bool { return good(get(ctx, t, url)) })
}

func get(ctx context.Context, t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}
