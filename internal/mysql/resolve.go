package mysql

import (
	"context"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Resolve is [semel.Store.Resolve].
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (res semel.ResolveResult, err error) {
	if err := p.Check(); err != nil {
		return res, err
	}
	err = s.alone(ctx, p.Key, func(ctx context.Context, r runner) (bool, error) {
		d, err := r.resolve(ctx, &p)
		if err != nil {
			return false, unwritten(ctx, err)
		}
		row, now, err := r.load(ctx, p.Key[:])
		switch {
		case err != nil && d.rows > 0:
			return false, unanswered(ctx, err)
		case err != nil:
			return false, unread(ctx, err)
		}
		if row, err = row.Seen(now); err != nil {
			return false, err
		}
		if d.rows == 0 && row != nil && sqlrecord.Resolvable(row, &p, now) {
			return false, nil // it was running, or another one's, when the statement came to it
		}
		res = sqlrecord.Resolved(row, &p, d.rows > 0, now)
		return true, nil
	})
	return res, err
}

func (r runner) resolve(ctx context.Context, p *semel.ResolveParams) (done, error) {
	if p.Resolution == semel.ResolveDelete {
		return r.exec(ctx, stmtDelete, p.Key[:], int64(p.Fence))
	}
	result := sqlrecord.Decided(p)
	m, d := expiryOf(p.Retention)
	return r.exec(ctx, stmtResolve, p.Key[:], p.Token[:], int64(p.Fence), int64(p.Resolution.StateAfter()),
		int64(result.Kind), result.Data, m, d)
}
