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

const killsPerCell = 3 // twenty cells

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
			flags := []string{"--on-unknown", mode, "--lease", "2s"}
			shop := newShop(t)
			survivor := newClient(t, gateway.StartOn(t, binary, shop.URL, store, flags...))
			for i, point := range points {
				t.Run(mode+"/"+point.name, func(t *testing.T) {
					t.Parallel()
					var all []string
					for n := range killsPerCell {
						key := fmt.Sprintf("%s-%s-%d", mode, point.name, n)
						doomed := gateway.StartDoomed(t, tagged, point.name, shop.URL, store, flags...)
						if got, err := newClient(t, doomed).once(t.Context(), 0, key); err == nil {
							t.Fatalf("%s: got %v from a gateway that is killed", key, got)
						}
						doomed.Died(t)
						kills.Add(1)
						all = append(all, key)
					}
					for key, got := range settle(t, survivor, all) {
						if mode == "hold" {
							check(t, key, got, shop.effectsOf(key), points[i].recorded, points[i].hold)
						} else {
							check(t, key, got, shop.effectsOf(key), true, points[i].retry)
						}
					}
				})
			}
		}
	})
}

func check(t *testing.T, key string, got answer, effects int, recorded bool, times int) {
	t.Helper()
	if effects != times || recorded && got.status != http.StatusCreated || !recorded && !got.unknown() {
		t.Errorf("%s: %d effects, want %d, and the answer %v, recorded: %t", key, effects, times, got, recorded)
	}
}

// settle asks for keys until there are final answers.
func settle(t *testing.T, c *client, all []string) map[string]answer {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answers := make([]answer, len(all))
	var wait sync.WaitGroup
	for i, key := range all {
		wait.Go(func() {
			var err error
			if answers[i], err = c.pay(ctx, 0, key); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	settled := map[string]answer{}
	for i, key := range all {
		settled[key] = answers[i]
	}
	return settled
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
