package sqlite

import (
	"context"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
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
	r := sqlrecord.Fresh(&c.p, t.now, max(t.now, floor+1))
	args := insertArgs(r)
	inserted, err := t.change(stmtInsert, args...)
	if err != nil {
		return err
	}
	if inserted {
		c.result = sqlrecord.Claimed(r, &c.p, t.now, semel.ClaimAcquired)
		return nil
	}
	if r, err = t.load(c.p.Key[:]); err != nil {
		return err
	}
	if r != nil {
		if res, ok := sqlrecord.Unclaimed(r, &c.p, t.now); ok {
			c.result = res
			return nil
		}
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
	c.result = sqlrecord.Claimed(r, &c.p, t.now, semel.ClaimAcquired)
	return nil
}

// insertArgs are the parameters of stmtInsert; stmtClaim has two more.
func insertArgs(r *sqlrecord.Row) []any {
	return []any{
		r.StartedAt, r.Key, r.Token, int64(r.State), int64(r.Policy), r.LeaseUntil, r.ExpiresAt,
		r.Fingerprint, r.ScopeID, r.Operation, r.KeyText, int64(r.ResultKind), int64(r.Fence),
	}
}
