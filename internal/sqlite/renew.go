package sqlite

import (
	"bytes"
	"context"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Renew is [semel.Store.Renew].
func (s *Store) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	op := &renew{p: p}
	if err := s.do(ctx, op); err != nil {
		return semel.RenewResult{}, err
	}
	return semel.RenewResult{LeaseLeft: op.left}, nil
}

type renew struct {
	p    semel.RenewParams
	left time.Duration
}

func (r *renew) sortKey() []byte { return r.p.Key[:] }

func (r *renew) apply(t *tx) error {
	until := sqlrecord.After(t.now, r.p.Lease)
	r.left = sqlrecord.Left(until, t.now)
	return t.owner(stmtRenew, r.p.Key, r.p.Token, until, int64(r.p.Policy))
}

// Checkpoint is [semel.Checkpointer].
func (s *Store) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	p.Data = bytes.Clone(p.Data)
	return semel.CheckpointResult{}, s.do(ctx, &checkpoint{p: p})
}

type checkpoint struct{ p semel.CheckpointParams }

func (c *checkpoint) sortKey() []byte { return c.p.Key[:] }

func (c *checkpoint) apply(t *tx) error {
	return t.owner(stmtCheckpoint, c.p.Key, c.p.Token, c.p.Data)
}

// owner runs a statement that only the owner of a running record may.
func (t *tx) owner(id statement, key semel.KeyID, token semel.Token, args ...any) error {
	ok, err := t.change(id, append([]any{t.now, key[:], token[:]}, args...)...)
	if err != nil || ok {
		return err
	}
	if _, err := t.load(key[:]); err != nil {
		return err
	}
	return semel.ErrFenced
}
