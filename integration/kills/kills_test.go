package kills

import (
	"fmt"
	"testing"

	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/soak"
)

// share is how many of its engine's workers are killed with this backend in each of the
// two tests.
func share(t *testing.T, b backends.Backend) int {
	t.Helper()
	drivers := 0
	for _, other := range backends.Leased() {
		if other.Engine == b.Engine {
			drivers++
		}
	}
	return (soak.Kills(t) + 2*drivers - 1) / (2 * drivers)
}

// Field faults: a crash wedges the key for the whole retention; an exit leaves it locked;
// the effect is there, the claim is gone, and the customer is charged again.
//
// Under AtLeastOnce each kill costs one more effect at most. Under AtMostOnce there is
// never a second one; who asks where the effect would be clears every doubt up.
func TestWorkersUnderLeases(t *testing.T) {
	t.Parallel()
	for _, b := range backends.Leased() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			c := newCampaign(t, b)
			c.run(share(t, b), int(points), 4, atLeastOnce, atMostOnce)
			doubts := c.finish()
			extra := c.checkAll(atLeastOnce)
			c.recover()
			c.checkAll(atMostOnce)
			fmt.Printf("crash test: %s, under leases: %v; at-least-once: %d more effects than keys; at-most-once: never a second one, %d keys in doubt until recovered\n",
				b.Name, c, extra, doubts)
		})
	}
}

// The record commits with its effect: exactly one effect of each key, whatever happens.
// On SQLite a worker has one key: its transaction keeps all others out.
func TestWorkersInTransactions(t *testing.T) {
	t.Parallel()
	for _, b := range backends.All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			keys, together := int(points), 4
			if b.Engine == "SQLite" {
				keys, together = 1, 1
			}
			c := newCampaign(t, b)
			c.run(share(t, b), keys, together, transactional)
			c.finish()
			if extra := c.checkAll(transactional); extra != 0 {
				t.Errorf("there are %d more effects than keys", extra)
			}
			fmt.Printf("crash test: %s, in transactions: %v; exactly one effect of each\n", b.Name, c)
		})
	}
}
