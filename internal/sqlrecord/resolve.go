package sqlrecord

import (
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

var errNoResolution = errors.New("sqlstore: unknown resolution; use done, did not happen or delete")

// CheckResolve refuses a decision that would be forgotten as soon as it is made:
// the next claim would run.
func CheckResolve(p *semel.ResolveParams) error {
	switch {
	case p.Resolution == semel.ResolveDelete:
		return nil
	case StateAfter(p.Resolution) == semel.StateNone:
		return errNoResolution
	case p.Retention < time.Second:
		return fmt.Errorf("sqlstore: retention %v of a decided record is below 1s: it would be forgotten at once; use 1s or more, or semel.Forever", p.Retention)
	}
	return nil
}

// StateAfter is the state that a decision leaves.
func StateAfter(res semel.Resolution) semel.State {
	switch res {
	case semel.ResolveDone:
		return semel.StateDone
	case semel.ResolveDidNotHappen:
		return semel.StateReleased
	}
	return semel.StateNone
}

// Decided is the result that a decision writes; only done has one.
func Decided(p *semel.ResolveParams) semel.StoredResult {
	if p.Resolution != semel.ResolveDone {
		return semel.StoredResult{}
	}
	return p.Result
}

// Resolvable reports whether a decision applies to this record at now. If it was not
// applied all the same, somebody changed the record in between.
func Resolvable(r *Row, p *semel.ResolveParams, now int64) bool {
	return r.Fence == p.Fence && !r.Alive(now) && (p.Resolution == semel.ResolveDelete || r.State != semel.StateDone)
}

// Resolved tells of the record after a decision, nil for none. What did not apply
// may have been applied before: the same decision again, or there is nothing to
// delete.
func Resolved(r *Row, p *semel.ResolveParams, applied bool, now int64) semel.ResolveResult {
	if r == nil {
		return semel.ResolveResult{Resolved: applied || p.Resolution == semel.ResolveDelete}
	}
	return semel.ResolveResult{
		Resolved: applied || r.OwnedBy(p.Token) && r.State == StateAfter(p.Resolution),
		Record:   r.Record(now),
	}
}
