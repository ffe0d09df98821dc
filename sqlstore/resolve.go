package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Resolve is [semel.Store.Resolve]. Did not happen sets the attempts back to none,
// so that the next claim runs.
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	if err := checkResolve(&p); err != nil {
		return semel.ResolveResult{}, err
	}
	p.Result.Data = bytes.Clone(p.Result.Data)
	op := &resolve{p: p}
	if err := s.do(ctx, op); err != nil {
		return semel.ResolveResult{}, err
	}
	return op.result, nil
}

var errNoResolution = errors.New("sqlstore: unknown resolution; use done, did not happen or delete")

// checkResolve refuses a decision that would be forgotten as soon as it is made:
// the next claim would run.
func checkResolve(p *semel.ResolveParams) error {
	switch {
	case p.Resolution == semel.ResolveDelete:
		return nil
	case stateAfter(p.Resolution) == semel.StateNone:
		return errNoResolution
	case p.Retention < time.Second:
		return fmt.Errorf("sqlstore: retention %v of a decided record is below 1s: it would be forgotten at once; use 1s or more, or semel.Forever", p.Retention)
	}
	return nil
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
