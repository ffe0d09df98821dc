package postgres

import (
	"context"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Resolve is [semel.Store.Resolve]. Did not happen sets the attempts back to none,
// so that the next claim runs.
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (res semel.ResolveResult, err error) {
	if err := p.Check(); err != nil {
		return res, err
	}
	var waited bool
	err = s.alone(ctx, func(ctx context.Context) (err error) {
		res, waited, err = s.text.decide(ctx, s.db, waitOne, &p)
		return err
	})
	if err == nil && waited {
		s.told.add(p.Key)
	}
	return res, failure(err)
}

func (t *Text) decide(ctx context.Context, q Querier, wait Wait, p *semel.ResolveParams) (res semel.ResolveResult, waited bool, err error) {
	text, args := t.resolution(wait, p)
	for range tries {
		var s *seen
		if err := q.Query(ctx, text, args, one(&s)); err != nil {
			return res, false, err
		}
		if s == nil {
			return sqlrecord.Resolved(nil, p, false, 0), false, nil
		}
		r, err := s.record()
		if err != nil {
			return res, false, err
		}
		if s.moved || r == nil || !sqlrecord.Resolvable(r, p, s.now) {
			return sqlrecord.Resolved(r, p, s.moved, s.now), s.moved && s.waited, nil
		}
	}
	return res, false, errBusy
}

func (t *Text) resolution(wait Wait, p *semel.ResolveParams) (text string, args []any) {
	if p.Resolution == semel.ResolveDelete {
		return t.forget, []any{string(wait), uuid(p.Key), int64(p.Fence)}
	}
	result := sqlrecord.Decided(p)
	return t.resolve, []any{
		string(wait), uuid(p.Key), uuid(p.Token), int64(p.Fence), int64(p.Resolution.StateAfter()),
		int64(result.Kind), null(result.Data), micros(p.Retention),
	}
}
