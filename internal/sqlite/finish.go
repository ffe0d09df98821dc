package sqlite

import (
	"bytes"
	"context"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// Finish is [semel.Store.Finish].
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	p.Result.Data = bytes.Clone(p.Result.Data)
	return semel.FinishResult{}, s.do(ctx, &finish{p: p})
}

type finish struct{ p semel.FinishParams }

func (f *finish) sortKey() []byte { return f.p.Key[:] }

func (f *finish) apply(t *tx) error {
	if err := f.p.Check(); err != nil {
		return err
	}
	if f.p.Unrun { // a recovery that nobody began goes back in doubt
		doubt := f.p
		doubt.State = semel.StateInDoubt
		if ok, err := f.move(t, &doubt); err != nil || ok {
			return err
		}
	}
	if ok, err := f.move(t, &f.p); err != nil || ok {
		return err
	}
	return f.judge(t)
}

// move writes the verdict, if the record is in a state that takes it.
func (f *finish) move(t *tx, p *semel.FinishParams) (bool, error) {
	args := finishArgs(p, t.now)
	ok, err := t.change(stmtFinishStands, args...)
	if err != nil || ok {
		return ok, err
	}
	return t.change(stmtFinishMoves, append(args, sqlrecord.After(t.now, p.Retention))...)
}

// finishArgs are the parameters of stmtFinishStands; stmtFinishMoves has one more.
func finishArgs(p *semel.FinishParams, now int64) []any {
	kept := sqlrecord.Kept(p)
	return []any{now, p.Key[:], p.Token[:], int64(p.State), int64(kept.Kind), kept.Data, int64(p.Cause), sqlrecord.Half(p.Retention), p.Unrun}
}

// judge answers for a record that the finish did not change.
func (f *finish) judge(t *tx) error {
	r, err := t.load(f.p.Key[:])
	if err != nil {
		return err
	}
	return sqlrecord.Unfinished(r, &f.p)
}
