package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// points are the steps at which a gateway is killed, and what must come of a key that
// was killed there once: whether its answer is recorded under hold, and how often it
// takes effect under hold and under retry.
var points = []struct {
	name        string
	recorded    bool // else in doubt
	hold, retry int
}{
	{"before-claim", true, 1, 1},
	{"after-claim", false, 0, 1},
	{"after-upstream", false, 1, 2},
	{"before-save", false, 1, 2},
	{"before-answer", true, 1, 1},
}

const killsPerPoint = 3 // in each mode, on each engine

// Gateways die by SIGKILL at each step of a request, while another one on the same
// database lives on: it answers the retries.
//
// Field faults: killed half-way, the key is locked for ever; the work runs twice; the
// result is lost.
func TestKilledAtEachStep(t *testing.T) {
	tagged := buildWithCrashPoints(t)
	var kills atomic.Int64
	t.Cleanup(func() {
		if !t.Failed() && kills.Load() > 0 {
			fmt.Printf("crash test: gateways on database servers killed %d times\n", kills.Load())
		}
	})
	onEach(t, func(t *testing.T, e engine) {
		store := e.shared(t)
		for _, mode := range []string{"hold", "retry"} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				shop := newShop(t)
				flags := []string{"--on-unknown", mode, "--lease", "2s"}
				survivor := newClient(t, gateway.StartOn(t, binary, shop.URL, store, flags...))
				for point := range points {
					for n := range killsPerPoint {
						kill(t, tagged, points[point].name, crashKey(mode, point, n), shop, store, flags)
						kills.Add(1)
					}
				}
				settle(t, survivor, shop, mode)
			})
		}
	})
}

func crashKey(mode string, point, n int) string {
	return fmt.Sprintf("%s-%s-%d", mode, points[point].name, n)
}

// kill sends a request to a gateway that dies of it.
func kill(t *testing.T, tagged, point, key string, shop *shop, store string, flags []string) {
	t.Helper()
	doomed := gateway.StartDoomed(t, tagged, point, shop.URL, store, flags...)
	if got, err := newClient(t, doomed).once(t.Context(), 0, key); err == nil {
		t.Fatalf("%s: got %v from a gateway that is killed", key, got)
	}
	doomed.Died(t)
}

// settle asks for all keys until there are final answers, and checks them.
func settle(t *testing.T, c *client, shop *shop, mode string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wait sync.WaitGroup
	for i, point := range points {
		recorded, times := point.recorded, point.hold
		if mode == "retry" {
			recorded, times = true, point.retry
		}
		for n := range killsPerPoint {
			wait.Go(func() {
				key := crashKey(mode, i, n)
				got, err := c.pay(ctx, 0, key)
				effects := shop.effectsOf(key)
				if err != nil || effects != times || recorded && got.status != http.StatusCreated || !recorded && !got.unknown() {
					t.Errorf("%s: %d effects, want %d; the answer %v (%v), want it recorded: %t", key, effects, times, got, err, recorded)
				}
			})
		}
	}
	wait.Wait()
}

func buildWithCrashPoints(t *testing.T) (file string) {
	t.Helper()
	root, err := gateway.Root()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "semel")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags=semelcrash", "-o", file, "./cmd/semel")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}
