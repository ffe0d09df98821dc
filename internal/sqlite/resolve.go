package sqlite

import (
	"bytes"
	"context"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Resolve is [semel.Store.Resolve]. Did not happen sets the attempts back to none,
// so that the next claim runs.
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	if err := p.Check(); err != nil {
		return semel.ResolveResult{}, err
	}
	p.Result.Data = bytes.Clone(p.Result.Data)
	op := &resolve{p: p}
	if err := s.do(ctx, op); err != nil {
		return semel.ResolveResult{}, err
	}
	return op.result, nil
}

type resolve struct {
	p      semel.ResolveParams
	result semel.ResolveResult
}

func (r *resolve) sortKey() []byte { return r.p.Key[:] }

func (r *resolve) apply(t *tx) error {
	applied, err := r.update(t)
	if err != nil {
		return err
	}
	rec, err := t.load(r.p.Key[:])
	if err != nil {
		return err
	}
	r.result = sqlrecord.Resolved(rec, &r.p, applied, t.now)
	return nil
}

func (r *resolve) update(t *tx) (bool, error) {
	p := &r.p
	if p.Resolution == semel.ResolveDelete {
		return t.change(stmtDelete, t.now, p.Key[:], int64(p.Fence))
	}
	result := sqlrecord.Decided(p)
	return t.change(stmtResolve, t.now, p.Key[:], p.Token[:], int64(p.Fence), int64(p.Resolution.StateAfter()),
		int64(result.Kind), result.Data, sqlrecord.After(t.now, p.Retention))
}
