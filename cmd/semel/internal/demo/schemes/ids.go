package schemes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
)

func idsScheme() Scheme {
	return Scheme{ID: "ids", Ways: []Way{
		{ID: Wrong, Wants: moreThan(0), Code: code("ids.go", "next", "now :=", "return"), act: idsConfigured},
		{ID: Right, Wants: exactly(0), Code: code("ids.go", "leaseWorker", "return", "Group", "})"), act: idsLeased},
	}}
}

// shop is who hands out the orders.
const shop = "shop"

// configured makes the usual 64-bit ids. Its worker id stands in a configuration file,
// and that of the other process was copied from it.
type configured struct{ worker, last, sequence int64 }

// next is the usual 64-bit id: milliseconds, a worker id
// from a configuration file, a sequence.
func (c *configured) next() int64 {
	now := time.Now().UnixMilli()
	if c.sequence++; now != c.last {
		c.last, c.sequence = now, 0
	}
	return now<<22 | c.worker<<12 | c.sequence
}

func idsConfigured(ctx context.Context, s *scene) (int, error) {
	var two sources
	for i, who := range processes {
		c := &configured{worker: 1}
		two[i] = func() (string, error) { return fmt.Sprint(c.next()), nil }
		s.say(ctx, who, "configured", Plain, "worker", c.worker)
	}
	t, err := two.inTurn(ctx)
	if err != nil {
		return 0, err
	}
	s.say(ctx, shop, "twice", Bad, "orders", t.orders, "duplicates", t.duplicates, "id", t.duplicate)
	return t.duplicates, nil
}

// leaseWorker takes a worker id from the store: no two
// processes hold the same, and issuing stops before a
// lease ends.
func leaseWorker(ctx context.Context, store semel.Store,
) (*idgen.Node, error) {
	return idgen.NewNode(ctx, store, &idgen.Options{
		Group: "orders",
	})
}

func idsLeased(ctx context.Context, s *scene) (duplicates int, err error) {
	var two sources
	for i, who := range processes {
		node, err := leaseWorker(ctx, s.store)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, node.Close(context.WithoutCancel(ctx))) }()
		two[i] = func() (string, error) {
			id, err := node.Next(ctx)
			return id.String(), err
		}
		s.say(ctx, who, "leased", Plain, "worker", node.Worker())
	}
	t, err := two.inTurn(ctx)
	if err != nil {
		return 0, err
	}
	s.say(ctx, shop, "snowflakes", toneOf(t), "orders", t.orders, "duplicates", t.duplicates, "id", t.last)
	others, err := s.idsAlone(ctx)
	return t.duplicates + others, err
}

// idsAlone makes the ids that need no worker id.
func (s *scene) idsAlone(ctx context.Context) (duplicates int, err error) {
	for _, kind := range []struct {
		what string
		make func() sources
	}{{"uuids", newUUIDs}, {"ulids", newULIDs}} {
		t, err := kind.make().inTurn(ctx)
		if err != nil {
			return 0, err
		}
		s.say(ctx, shop, kind.what, toneOf(t), "orders", t.orders, "duplicates", t.duplicates, "id", t.last)
		duplicates += t.duplicates
	}
	return duplicates, s.derive(ctx)
}

func newUUIDs() (two sources) {
	for i := range two {
		var source idgen.UUIDs
		two[i] = func() (string, error) { return source.New().String(), nil }
	}
	return two
}

func newULIDs() (two sources) {
	for i := range two {
		var source idgen.ULIDs
		two[i] = func() (string, error) {
			id, err := source.New()
			return id.String(), err
		}
	}
	return two
}

// derive asks both processes for the invoice of one order.
func (s *scene) derive(ctx context.Context) error {
	order := newName("A-")
	var ids [len(processes)]idgen.UUID
	for i := range ids {
		var err error
		if ids[i], err = idgen.Derive(semel.Scope{Principal: semel.Global, Operation: "invoice"}, order); err != nil {
			return err
		}
	}
	if ids[0] != ids[1] {
		return errors.New("one order has two invoices")
	}
	s.say(ctx, shop, "derived", Again, "order", order, "id", ids[0])
	return nil
}

func toneOf(t tally) Tone {
	if t.duplicates > 0 {
		return Bad
	}
	return Good
}
