package mysql

import (
	"context"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// move claims a record that is there, if it still is as it was seen at now; nil if
// not. The record that it answers is the one that it wrote, at a time that comes
// after.
func (r runner) move(ctx context.Context, seen *sqlrecord.Row, p *semel.ClaimParams, now int64) (next *sqlrecord.Row, after int64, err error) {
	b, sent := branchOf(seen, p, now), time.Now()
	d, err := r.moveBy(ctx, b, seen, p, now)
	if err != nil || d.rows == 0 {
		return nil, 0, err
	}
	switch b {
	case own:
		owned := *seen
		owned.LeaseUntil = sqlrecord.After(d.id, p.Lease)
		next = &owned
	case spent:
		next = spend(seen, d.id)
	default:
		next = b.after(seen, p, d.id)
	}
	return next, since(d.id, sent), nil
}

func (r runner) moveBy(ctx context.Context, b branch, seen *sqlrecord.Row, p *semel.ClaimParams, now int64) (done, error) {
	args := []any{p.Key[:], p.Token[:], int64(seen.Fence), int64(seen.State), seen.LeaseUntil, seen.Checkpoint}
	switch b {
	case own:
		return r.exec(ctx, stmtOwn, append(args, sqlrecord.After(0, p.Lease))...)
	case spent:
		return r.exec(ctx, stmtSpend, append(args, spend(seen, now).Token)...)
	}
	return r.exec(ctx, stmtTake, append(args, takeArgs(b, seen, p, now)...)...)
}

// takeArgs are the parameters of takeRecord after those of asSeen. The times are not
// among them: the statement has its own clock.
func takeArgs(b branch, seen *sqlrecord.Row, p *semel.ClaimParams, now int64) []any {
	next := b.after(seen, p, now)
	m, d := expiryOf(p.Retention)
	return []any{
		sqlrecord.After(0, p.Lease), m, d, b == recovered, int64(next.State), int64(next.Policy), next.Token, int64(next.Attempt),
		next.DoubtSince, int64(next.Cause), next.Fingerprint, next.ScopeID, []byte(next.Operation), []byte(next.KeyText),
		int64(next.ResultKind), next.Checkpoint != nil, int64(b),
	}
}
