package sqlstore

import (
	"context"
	"fmt"

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
	floor, err := t.fenceFloor()
	if err != nil {
		return err
	}
	r := c.fresh(t.now, max(t.now, floor+1))
	args := c.args(r)
	inserted, err := t.exec(stmtInsert, args...)
	if err != nil {
		return err
	}
	if inserted {
		c.answer(r, t.now, semel.ClaimAcquired)
		return nil
	}
	if r, err = t.load(c.p.Key[:]); err != nil {
		return err
	}
	if r != nil && c.judge(r, t.now) {
		return nil
	}
	return c.move(t, args)
}

// move claims a record that is there.
func (c *claim) move(t *tx, args []any) error {
	r, err := t.row(stmtClaim, append(args, int64(c.p.MaxAttempts), c.p.Recovering)...)
	if err != nil {
		return err
	}
	if r == nil {
		return fmt.Errorf("sqlstore: the record %.4x can neither be claimed nor be answered for; restore or delete its row: %w", c.p.Key[:], &semel.RecordFormatError{})
	}
	t.changed = true
	c.answer(r, t.now, semel.ClaimAcquired)
	return nil
}

// fresh is the record of a key that had none.
func (c *claim) fresh(now, fence int64) *row {
	p := &c.p
	r := &row{
		key: p.Key[:], format: semel.RecordFormat, state: semel.StateRunning, policy: p.Policy, token: p.Token[:],
		fence: semel.Fence(fence), attempt: 1, leaseUntil: after(now, p.Lease), expiresAt: after(now, p.Retention), startedAt: now,
		fingerprint: p.Fingerprint[:], scopeID: p.ScopeID[:], operation: p.Operation, keyText: p.KeyText,
	}
	if p.Mark {
		r.state, r.resultKind = semel.StateDone, semel.ResultMark
	}
	return r
}

// args are the parameters of stmtInsert; stmtClaim has two more.
func (c *claim) args(r *row) []any {
	return []any{
		r.startedAt, r.key, r.token, int64(r.state), int64(r.policy), r.leaseUntil, r.expiresAt,
		r.fingerprint, r.scopeID, r.operation, r.keyText, int64(r.resultKind), int64(r.fence),
	}
}

// judge answers for a record that cannot be claimed, and reports whether that is
// so. The statement that moves the others has the same rules as its condition.
func (c *claim) judge(r *row, now int64) bool {
	switch {
	case string(r.fingerprint) != string(c.p.Fingerprint[:]):
		c.result = semel.ClaimResult{Outcome: semel.ClaimMismatch}
	case r.state == semel.StateDone:
		c.answer(r, now, semel.ClaimDone)
	case r.state == semel.StateRunning && r.ownedBy(c.p.Token):
		return false
	case r.alive(now):
		c.answer(r, now, semel.ClaimRunning)
	case r.inDoubt(now) && !c.p.Recovering:
		c.answer(r, now, semel.ClaimInDoubt)
	default:
		return false
	}
	return true
}

// answer tells of the record after the claim. In doubt it may have got by the
// claim itself, when its attempts are used up.
func (c *claim) answer(r *row, now int64, outcome semel.Outcome) {
	if r.state == semel.StateInDoubt {
		outcome = semel.ClaimInDoubt
	}
	c.result = semel.ClaimResult{Outcome: outcome, Mine: r.ownedBy(c.p.Token), Record: r.record(now)}
}
