package sqlstore

import (
	"bytes"
	"context"
	"errors"

	"github.com/semel-go/semel"
)

// Resolve is [semel.Store.Resolve]. Did not happen sets the attempts back to none,
// so that the next claim runs.
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
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
	var applied bool
	var err error
	switch p := &r.p; p.Resolution {
	case semel.ResolveDone:
		applied, err = r.update(t, semel.StateDone, p.Result)
	case semel.ResolveDidNotHappen:
		applied, err = r.update(t, semel.StateReleased, semel.StoredResult{})
	case semel.ResolveDelete:
		applied, err = t.exec(stmtDelete, t.now, p.Key[:], int64(p.Fence))
	default:
		return errors.New("sqlstore: unknown resolution; use done, did not happen or delete")
	}
	if err != nil {
		return err
	}
	return r.answer(t, applied)
}

func (r *resolve) update(t *tx, state semel.State, result semel.StoredResult) (bool, error) {
	p := &r.p
	return t.exec(stmtResolve, t.now, p.Key[:], p.Token[:], int64(p.Fence), int64(state), int64(result.Kind), result.Data, after(t.now, p.Retention))
}

// answer tells of the record as it is now. What did not apply may have been
// applied before: the same decision again, or there is nothing to delete.
func (r *resolve) answer(t *tx, applied bool) error {
	rec, err := t.load(r.p.Key[:])
	if err != nil {
		return err
	}
	if rec == nil {
		r.result.Resolved = r.p.Resolution == semel.ResolveDelete
		return nil
	}
	r.result.Record = rec.record(t.now)
	r.result.Resolved = applied || rec.ownedBy(r.p.Token) && rec.state == stateAfter(r.p.Resolution)
	return nil
}

func stateAfter(res semel.Resolution) semel.State {
	switch res {
	case semel.ResolveDone:
		return semel.StateDone
	case semel.ResolveDidNotHappen:
		return semel.StateReleased
	}
	return semel.StateNone
}
