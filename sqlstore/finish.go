package sqlstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Finish is [semel.Store.Finish].
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	p.Result.Data = bytes.Clone(p.Result.Data)
	return semel.FinishResult{}, s.do(ctx, &finish{p: p})
}

type finish struct{ p semel.FinishParams }

func (f *finish) sortKey() []byte { return f.p.Key[:] }

func (f *finish) apply(t *tx) error {
	if s := f.p.State; s != semel.StateDone && s != semel.StateReleased && s != semel.StateInDoubt {
		return fmt.Errorf("sqlstore: a run cannot finish as %v; use done, released or in doubt", s)
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
	ok, err := t.exec(stmtFinishStands, args...)
	if err != nil || ok {
		return ok, err
	}
	return t.exec(stmtFinishMoves, append(args, after(t.now, p.Retention))...)
}

// finishArgs are the parameters of stmtFinishStands; stmtFinishMoves has one more.
func finishArgs(p *semel.FinishParams, now int64) []any {
	kind, data := semel.ResultTombstone, []byte(nil)
	if p.State == semel.StateDone {
		kind, data = p.Result.Kind, p.Result.Data
	}
	return []any{now, p.Key[:], p.Token[:], int64(p.State), int64(kind), data, int64(p.Cause), half(p.Retention), p.Unrun}
}

// judge answers for a record that the finish did not change: the same verdict
// may be repeated by the run that gave it.
func (f *finish) judge(t *tx) error {
	r, err := t.load(f.p.Key[:])
	if err != nil {
		return err
	}
	if r != nil && r.ownedBy(f.p.Token) && (r.state == f.p.State || f.p.Unrun && r.state == semel.StateInDoubt) {
		return nil
	}
	return semel.ErrFenced
}

// half is half of a retention in microseconds, rounded up.
func half(d time.Duration) int64 {
	us := after(0, d)
	return us/2 + us%2
}
