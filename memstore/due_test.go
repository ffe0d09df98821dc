package memstore

import (
	"math/rand/v2"
	"testing"
)

func TestDueQueueIsInOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var q dueQueue
	last := instant(0)
	for range 10_000 {
		if len(q) == 0 || rng.IntN(3) > 0 {
			q.push(due{at: last + instant(rng.IntN(1000))})
			continue
		}
		d := q.pop()
		if d.at < last {
			t.Fatalf("%d came after %d", d.at, last)
		}
		last = d.at
	}
	for len(q) > 0 {
		d := q.pop()
		if d.at < last {
			t.Fatalf("%d came after %d", d.at, last)
		}
		last = d.at
	}
}
