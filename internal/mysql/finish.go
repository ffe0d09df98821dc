package mysql

import (
	"bytes"
	"context"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Finish is [semel.Store.Finish].
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	if err := p.Check(); err != nil {
		return semel.FinishResult{}, err
	}
	if err := s.gate.enter(); err != nil {
		return semel.FinishResult{}, err
	}
	defer s.gate.leave()
	if size := len(p.Result.Data); p.State == semel.StateDone && size > s.maxResult {
		return semel.FinishResult{}, fmt.Errorf("%w: mysql: max_allowed_packet has no room for a result of %d bytes; raise it", semel.ErrStoreFull, size)
	}
	if p.State == semel.StateDone && len(p.Result.Data) <= maxBatched {
		f := &finish{p: p}
		f.p.Result.Data = bytes.Clone(p.Result.Data)
		err := s.finishes.Do(ctx, f)
		if err != nil || f.settled {
			return semel.FinishResult{}, sqlrecord.Unbatched(err)
		}
	}
	return semel.FinishResult{}, s.repeat(ctx, p.Key, func(ctx context.Context, r runner) (bool, error) { return r.finish(ctx, &p) })
}

// maxBatched is the size of results that share a statement with others.
const maxBatched = 16 << 10

// finish is a call on its way.
type finish struct {
	p       semel.FinishParams
	settled bool
}

// finish ends a run, and reports whether that, or the failure, is the answer.
func (r runner) finish(ctx context.Context, p *semel.FinishParams) (bool, error) {
	d, err := r.write(ctx, p)
	if err != nil {
		return false, unwritten(ctx, err)
	}
	if d.rows > 0 {
		return true, nil
	}
	row, now, err := r.load(ctx, p.Key[:])
	if err != nil {
		return false, unread(ctx, err)
	}
	return finished(row, now, p)
}

// finished answers for a record that a finish did not change. One that it could
// change now was somebody else's in between.
func finished(row *sqlrecord.Row, now int64, p *semel.FinishParams) (bool, error) {
	row, err := row.Seen(now)
	if err != nil {
		return false, err
	}
	err = sqlrecord.Unfinished(row, p)
	open := row != nil && row.OwnedBy(p.Token) && (row.State == semel.StateRunning || row.State == semel.StateInDoubt)
	if err != nil && open {
		return false, nil
	}
	return true, err
}

// write runs the statement for the state that a run ends in.
func (r runner) write(ctx context.Context, p *semel.FinishParams) (done, error) {
	half := sqlrecord.Half(p.Retention)
	m, d := expiryOf(p.Retention)
	if p.State == semel.StateDone {
		return r.exec(ctx, stmtDone, p.Key[:], p.Token[:], int64(p.Result.Kind), p.Result.Data, half, m, d)
	}
	return r.exec(ctx, stmtFinish, p.Key[:], p.Token[:], int64(p.State), int64(p.Cause), half, m, d, p.Unrun)
}
