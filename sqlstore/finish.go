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
	args := f.args(t.now)
	ok, err := t.exec(stmtFinishStands, args...)
	if err != nil || ok {
		return err
	}
	ok, err = t.exec(stmtFinishMoves, append(args, after(t.now, f.p.Retention))...)
	if err != nil || ok {
		return err
	}
	return f.judge(t)
}

// args are the parameters of stmtFinishStands; stmtFinishMoves has one more.
func (f *finish) args(now int64) []any {
	p := &f.p
	kind, data := semel.ResultTombstone, []byte(nil)
	if p.State == semel.StateDone {
		kind, data = p.Result.Kind, p.Result.Data
	}
	return []any{now, p.Key[:], p.Token[:], int64(p.State), int64(kind), data, int64(p.Cause), half(p.Retention)}
}

// judge answers for a record that the finish did not change: the same verdict
// may be repeated by the run that gave it.
func (f *finish) judge(t *tx) error {
	r, err := t.load(f.p.Key[:])
	if err != nil {
		return err
	}
	if r != nil && r.ownedBy(f.p.Token) && r.state == f.p.State {
		return nil
	}
	return semel.ErrFenced
}

// half is half of a retention in microseconds, rounded up.
func half(d time.Duration) int64 {
	us := after(0, d)
	return us/2 + us%2
}
