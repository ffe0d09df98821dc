package sqlite

import (
	"context"
	"time"

	"github.com/semel-go/semel"
)

// maxPurge bounds the time for which a chunk keeps others from writing: some
// 50 ms for records of ordinary size.
const maxPurge = 1000

// Purge is [semel.Purger]. A chunk has 1,000 records at most, whatever the limit.
func (s *Store) Purge(ctx context.Context, p semel.PurgeParams) (semel.PurgeResult, error) {
	op := &purge{limit: min(max(p.Limit, 1), maxPurge)}
	if err := s.do(ctx, op); err != nil {
		return semel.PurgeResult{}, err
	}
	return op.result, nil
}

type purge struct {
	limit  int
	result semel.PurgeResult
}

func (*purge) sortKey() []byte { return nil }

func (p *purge) apply(t *tx) error {
	if _, err := t.change(stmtRaiseFloor, t.now, p.limit); err != nil {
		return err
	}
	n, err := t.changeCount(stmtPurge, t.now, p.limit)
	if err != nil {
		return err
	}
	p.result.Purged = int(n)
	oldest, found, err := t.number(stmtPurgeLeft, t.now)
	if err != nil {
		return err
	}
	p.result.More = found
	p.result.Lag = 0
	if found && oldest > 0 { // 0: deleted, not expired
		p.result.Lag = time.Duration(t.now-oldest) * time.Microsecond
	}
	return nil
}
