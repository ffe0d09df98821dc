package sqlstore

import (
	"context"

	"github.com/semel-go/semel"
)

// Claim is [semel.Store.Claim].
func (s *Store) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	op := &claim{p: p}
	if err := s.do(ctx, op); err != nil {
		return semel.ClaimResult{}, err
	}
	return op.result, nil
}

type claim struct {
	p      semel.ClaimParams
	result semel.ClaimResult
}

func (c *claim) sortKey() []byte { return c.p.Key[:] }

func (c *claim) apply(t *tx) error {
	r, err := t.row(stmtClaim, c.args(t.now)...)
	if err != nil {
		return err
	}
	if r != nil {
		t.changed = true
		c.answer(r, t.now, semel.ClaimAcquired)
		return nil
	}
	if r, err = t.load(c.p.Key[:]); err != nil {
		return err
	}
	c.judge(r, t.now)
	return nil
}

// args are the parameters of stmtClaim.
func (c *claim) args(now int64) []any {
	p, state, kind := &c.p, semel.StateRunning, semel.ResultTombstone
	if p.Mark {
		state, kind = semel.StateDone, semel.ResultMark
	}
	return []any{
		now, p.Key[:], p.Token[:], int64(state), int64(p.Policy), after(now, p.Lease), after(now, p.Retention),
		p.Fingerprint[:], p.ScopeID[:], p.Operation, p.KeyText, int64(kind), int64(p.MaxAttempts), p.Recovering,
	}
}

// judge answers for a record that could not be claimed.
func (c *claim) judge(r *row, now int64) {
	switch {
	case string(r.fingerprint) != string(c.p.Fingerprint[:]):
		c.result.Outcome = semel.ClaimMismatch
	case r.state == semel.StateDone:
		c.answer(r, now, semel.ClaimDone)
	case r.inDoubt(now):
		c.answer(r, now, semel.ClaimInDoubt)
	default:
		c.answer(r, now, semel.ClaimRunning)
	}
}

// answer tells of the record after the claim; in doubt it may have got by the
// claim itself, when its attempts are used up.
func (c *claim) answer(r *row, now int64, outcome semel.Outcome) {
	if r.state == semel.StateInDoubt {
		outcome = semel.ClaimInDoubt
	}
	c.result = semel.ClaimResult{Outcome: outcome, Mine: r.ownedBy(c.p.Token), Record: r.record(now)}
}
