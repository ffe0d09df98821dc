package linear

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/semel-go/semel"
)

// Subject is the store under test.
type Subject struct {
	// Stores are handles on the same records, as several processes have them; callers
	// take turns.
	Stores []semel.Store
	// Lapse ends the lease of each key that has one, as time would, in one atomic step
	// for each key.
	Lapse func(ctx context.Context, keys []semel.KeyID) error
}

// Load is how much is asked of the store. The zero value of each field but Seed means
// its default.
type Load struct {
	Seed    uint64  // of all that is drawn at random but the scheduling
	Callers int     // at once. Default 8
	Keys    int     // at once. Default 4
	Rounds  int     // each with new keys. Default 16
	Calls   int     // of each caller in a round. Default 16
	Loss    float64 // share of calls whose reply is lost on the way. Default 0.05; negative: none
}

func (l Load) withDefaults() Load {
	setDefault(&l.Callers, 8)
	setDefault(&l.Keys, 4)
	setDefault(&l.Rounds, 16)
	setDefault(&l.Calls, 16)
	setDefault(&l.Loss, 0.05)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Run lets callers loose on the store and returns what they were told. Its error is an
// answer that the contract does not have.
func Run(ctx context.Context, s Subject, l Load) (*History, error) {
	l = l.withDefaults()
	h := &History{callers: l.Callers}
	w := &wire{loss: l.Loss}
	errs := make([]error, l.Callers)
	for range l.Rounds {
		keys := h.newKeys(l.Keys)
		var all sync.WaitGroup
		for i := range l.Callers {
			c := &caller{
				id: i, store: s.Stores[i%len(s.Stores)], lapses: s.Lapse, history: h, wire: w,
				keys: keys, known: make([]knowledge, len(keys)),
				rng: rand.New(rand.NewPCG(l.Seed, uint64(keys[0].number*l.Callers+i))),
			}
			all.Go(func() { errs[i] = errors.Join(errs[i], c.run(ctx, l.Calls)) })
		}
		all.Wait()
		w.drain()
	}
	return h, errors.Join(errs...)
}

// key is one of a round.
type key struct {
	number int
	id     semel.KeyID
}

// newKeys are random, since others may use the same store.
func (h *History) newKeys(n int) []key {
	keys := make([]key, n)
	for i := range keys {
		keys[i] = key{number: h.keys, id: semel.KeyID(semel.NewToken())}
		h.keys++
	}
	return keys
}

// caller makes calls at random, one after the other.
type caller struct {
	id      int
	store   semel.Store
	lapses  func(context.Context, []semel.KeyID) error
	history *History
	wire    *wire
	rng     *rand.Rand
	keys    []key
	known   []knowledge // by key
	tokens  uint64
}

// knowledge is what a caller knows of a key.
type knowledge struct {
	tokens []semel.Token // its own, the newest last
	fence  semel.Fence   // the last one seen
}

func (c *caller) run(ctx context.Context, calls int) error {
	for calls > 0 {
		i := c.rng.IntN(len(c.keys))
		what := c.choose(&c.known[i])
		for again := true; again && calls > 0; calls-- {
			unknown, err := c.make(ctx, i, what)
			if err != nil {
				return fmt.Errorf("%v: %w", what, err)
			}
			again = unknown && c.rng.IntN(4) > 0 // most callers ask again
		}
	}
	return nil
}

// make makes a call, and records it.
func (c *caller) make(ctx context.Context, i int, what call) (unknown bool, err error) {
	if what.kind == lapse {
		return false, c.lapse(ctx)
	}
	op := operation{caller: c.id, key: c.keys[i].number, call: what, called: c.history.tick()}
	op.reply, err = c.wire.send(c.rng, func() (reply, error) {
		if what.kind == claim {
			c.wire.claims.RLock()
			defer c.wire.claims.RUnlock()
		}
		return what.on(ctx, c.store, c.keys[i].id)
	})
	op.answered = c.history.tick()
	switch {
	case errors.Is(err, semel.ErrNoReply):
		op.unknown, op.reply = true, reply{}
	case errors.Is(err, semel.ErrStoreUnavailable):
		c.history.addRefused() // it was not executed: the history must make sense without it
		return true, nil
	case err != nil:
		return false, err
	}
	if f := op.reply.seen.fence; f != 0 {
		c.known[i].fence = f
	}
	c.history.add(op)
	return op.unknown, nil
}

// lapse ends the leases of all keys.
func (c *caller) lapse(ctx context.Context) error {
	var ids []semel.KeyID
	for _, k := range c.keys {
		ids = append(ids, k.id)
	}
	op := operation{caller: c.id, call: call{kind: lapse}, called: c.history.tick()}
	c.wire.claims.Lock()
	err := c.lapses(ctx, ids)
	c.wire.claims.Unlock()
	if err != nil {
		return err
	}
	op.answered = c.history.tick()
	for _, k := range c.keys {
		op.key = k.number
		c.history.add(op)
	}
	return nil
}

// choose draws a call. An owner of old does what owners do, so that there is something
// to fence.
func (c *caller) choose(k *knowledge) call {
	n := c.rng.IntN(100)
	if n >= 45 && n < 85 && len(k.tokens) == 0 {
		n = 0 // nothing to renew or finish
	}
	switch {
	case n < 32:
		k.tokens = append(k.tokens, c.newToken())
		return c.newClaim(k.latest())
	case n < 40:
		return call{kind: read}
	case n < 45:
		return call{kind: lapse}
	case n < 53:
		return c.newClaim(k.latest())
	case n < 62:
		return call{kind: renew, token: c.pick(k), policy: semel.Policy(c.rng.IntN(3))}
	case n < 85:
		return c.newFinish(c.pick(k))
	}
	return call{
		kind: resolve, token: c.newToken(), fence: k.fence, result: c.newResult(),
		resolution: semel.Resolution(1 + c.rng.IntN(3)),
	}
}

func (c *caller) newClaim(token semel.Token) call {
	return call{
		kind: claim, token: token, policy: semel.Policy(1 + c.rng.IntN(2)),
		recovering: c.rng.IntN(3) == 0, mark: c.rng.IntN(16) == 0, other: c.rng.IntN(16) == 0,
		maxAttempts: c.rng.IntN(3) * 2,
	}
}

func (c *caller) newFinish(token semel.Token) call {
	f := call{kind: finish, token: token, state: semel.StateReleased, unrun: c.rng.IntN(4) == 0}
	switch n := c.rng.IntN(8); {
	case n < 3:
		return call{kind: finish, token: token, state: semel.StateDone, result: c.newResult()}
	case n < 5:
		return call{kind: finish, token: token, state: semel.StateInDoubt}
	}
	return f
}

// latest is the newest token, or a new one.
func (k *knowledge) latest() semel.Token {
	if len(k.tokens) == 0 {
		return semel.NewToken()
	}
	return k.tokens[len(k.tokens)-1]
}

// pick is mostly the newest token.
func (c *caller) pick(k *knowledge) semel.Token {
	if c.rng.IntN(4) == 0 {
		return k.tokens[c.rng.IntN(len(k.tokens))]
	}
	return k.latest()
}

// newToken is unique, and the same for the same seed.
func (c *caller) newToken() (t semel.Token) {
	c.tokens++
	binary.BigEndian.PutUint64(t[:], c.rng.Uint64())
	binary.BigEndian.PutUint64(t[8:], uint64(c.id)<<32|c.tokens)
	return t
}

func (c *caller) newResult() string { return fmt.Sprintf("%d-%d", c.id, c.rng.Uint32()) }
