package kills

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/semel-go/semel/integration/internal/backends"
)

// defaultKills is the number of workers to kill for each engine.
const defaultKills = 100

func kills(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("SEMEL_KILLS"))
	if os.Getenv("SEMEL_KILLS") == "" {
		return defaultKills
	}
	if err != nil || n < 2 {
		t.Fatalf("SEMEL_KILLS=%q is no number of workers, of 2 or more", os.Getenv("SEMEL_KILLS"))
	}
	return n
}

// Field faults: a crash wedges the key for the whole retention; a panic or exit leaves it
// locked; the handler's effect is there, the claim is gone, and the customer is charged
// again.
func TestLease(t *testing.T) {
	t.Parallel()
	for _, b := range backends.All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			c := newCampaign(t, b)
			c.run(kills(t)/2, int(points), 4, atLeastOnce, atMostOnce)
			doubts := c.finish()
			made := c.effects()
			extra := 0
			for _, j := range c.jobs {
				c.check(j, made[j.key])
				if j.level == atLeastOnce {
					extra += len(made[j.key]) - 1
					c.checkDone(j, made[j.key])
				}
			}
			c.recover()
			made = c.effects()
			for _, j := range c.jobs {
				if j.level == atMostOnce {
					c.check(j, made[j.key])
					c.checkDone(j, made[j.key])
				}
			}
			fmt.Printf("crash test: %s, under leases: %d workers killed, %d runs of %d keys cut short; at-least-once: %d more effects than keys; at-most-once: never a second one, %d keys in doubt until recovered\n",
				b.Name, c.workers, c.cuts(), len(c.jobs), extra, doubts)
		})
	}
}

// cuts counts the runs that were cut short.
func (c *campaign) cuts() (n int) {
	for _, k := range c.kills {
		n += len(k)
	}
	return n
}
