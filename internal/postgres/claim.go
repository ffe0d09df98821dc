package postgres

import (
	"context"
	"slices"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// claim is a call in a batch. What the batch does not settle goes on alone, by its
// caller: a record that is there and can be claimed, a batch that failed. No such
// call keeps the others waiting.
type claim struct {
	p      semel.ClaimParams
	result semel.ClaimResult
	next   step     // settled, or what it goes on with alone
	later  []*claim // of the same key, in the same batch
}

// Claim is [semel.Store.Claim].
func (s *Store) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	c := &claim{p: p, next: again}
	if !s.held.has(p.Key) {
		if err := s.claims.Do(ctx, c); err != nil {
			return semel.ClaimResult{}, sqlrecord.Unbatched(err)
		}
		if c.next == settled {
			return c.result, nil
		}
	}
	return s.claimAlone(ctx, &c.p, c.next)
}

// claimAlone is a claim outside of any batch. A record that somebody holds in a
// transaction is running, as far as one can know.
func (s *Store) claimAlone(ctx context.Context, p *semel.ClaimParams, next step) (res semel.ClaimResult, err error) {
	err = s.alone(ctx, func(ctx context.Context) (err error) {
		res, err = s.text.goOn(ctx, s.db, waitOne, p, next)
		if !answerable(err) && classOf(err) == classHeld {
			s.held.add(p.Key)
			res, err = s.claimHeld(ctx, p)
		}
		return err
	})
	return res, failure(err)
}

// claimHeld answers from the record as it was before that transaction, if there
// was one that cannot be claimed.
func (s *Store) claimHeld(ctx context.Context, p *semel.ClaimParams) (semel.ClaimResult, error) {
	r, now, err := s.load(ctx, p.Key)
	if err != nil {
		return semel.ClaimResult{}, err
	}
	if r != nil {
		if res, ok := sqlrecord.Unclaimed(r, p, now); ok {
			return res, nil
		}
	}
	return semel.ClaimResult{
		Outcome: semel.ClaimRunning,
		Record:  semel.Record{Key: p.Key, State: semel.StateRunning, Policy: p.Policy, Fingerprint: p.Fingerprint},
	}, nil
}

// flushClaims executes a batch in one statement.
func (s *Store) flushClaims(ctx context.Context, batch []*combiner.Call[*claim]) error {
	all := make([]*claim, 0, len(batch))
	for _, call := range batch {
		if !call.Start() {
			continue
		}
		if n := len(all); n > 0 && all[n-1].p.Key == call.Op.p.Key {
			all[n-1].later = append(all[n-1].later, call.Op)
		} else {
			all = append(all, call.Op)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1 && len(all[0].later) == 0:
		return s.claimFirst(ctx, all[0])
	}
	return s.claimMany(ctx, all)
}

// claimFirst is a batch of one. The statement for new keys is the cheaper one, as long
// as keys are new.
func (s *Store) claimFirst(ctx context.Context, c *claim) (err error) {
	if !s.repeated.Load() {
		c.result, c.next, err = s.text.enterNew(ctx, s.db, waitMany, &c.p)
	}
	if err == nil && c.next == again {
		var moved bool
		c.result, c.next, moved, err = s.text.enter(ctx, s.db, waitMany, &c.p)
		s.repeated.Store(!moved)
	}
	if err != nil {
		c.next = again
	}
	return spoilt(err)
}

func (s *Store) claimMany(ctx context.Context, all []*claim) error {
	err := s.db.Query(ctx, s.text.insertMany, insertManyArgs(waitMany, all), func(r Row) error {
		return settle(r, all)
	})
	if err != nil { // rows of a statement that failed count for nothing
		for _, c := range all {
			c.next = again
			for _, l := range c.later {
				l.next = again
			}
		}
	}
	return spoilt(err)
}

// spoilt is what a batch answers to all its calls; nil lets each go on alone, since
// one may have brought the failure upon the others.
func spoilt(err error) error {
	if !answerable(err) {
		switch classOf(err) {
		case classAgain, classHeld, classFailed, classFull:
			return nil
		}
	}
	return failure(err)
}

// settle gives a claim its answer, if the row has one for it. A record that cannot
// be read fails its own claim only.
func settle(r Row, all []*claim) error {
	var key []byte
	s := new(seen)
	if err := s.scan(r, &key); err != nil {
		return err
	}
	i, found := slices.BinarySearchFunc(all, keyOf(key), func(c *claim, key semel.KeyID) int {
		return slices.Compare(c.p.Key[:], key[:])
	})
	if !found {
		return nil
	}
	c := all[i]
	if res, next, err := s.entered(&c.p); err == nil {
		c.result, c.next = res, next
		c.settleLater(s)
	}
	return nil
}

// settleLater answers the later claims of a batch that do not get the record: they
// see it as the first one left it.
func (c *claim) settleLater(s *seen) {
	if len(c.later) == 0 {
		return
	}
	row := &s.row
	if s.moved {
		row = sqlrecord.Fresh(&c.p, s.row.StartedAt, int64(s.row.Fence))
	}
	for _, l := range c.later {
		if res, ok := sqlrecord.Unclaimed(row, &l.p, s.now); ok {
			l.result, l.next = res, settled
		}
	}
}

// insertManyArgs are the parameters of [Text.InsertMany].
func insertManyArgs(wait Wait, all []*claim) []any {
	n := len(all)
	keys, tokens, states, policies := newArray(n, 32), newArray(n, 32), newArray(n, 1), newArray(n, 1)
	leases, retentions, operations, texts := newArray(n, 9), newArray(n, 12), newArray(n, 16), newArray(n, 2)
	digests := make([]byte, 0, n*(len(semel.Fingerprint{})+len(semel.ScopeID{})))
	for _, c := range all {
		p := &c.p
		keys.uuid(p.Key)
		tokens.uuid(p.Token)
		states.int(int64(stateOf(p)))
		policies.int(int64(p.Policy))
		leases.int(micros(p.Lease))
		retentions.int(micros(p.Retention))
		digests = append(append(digests, p.Fingerprint[:]...), p.ScopeID[:]...)
		operations.bytes(p.Operation)
		texts.bytes(p.KeyText)
	}
	return []any{
		string(wait), keys.arg(), tokens.arg(), states.arg(), policies.arg(), leases.arg(), retentions.arg(),
		digests, operations.arg(), texts.arg(), int64(n),
	}
}
