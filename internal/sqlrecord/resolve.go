package sqlrecord

import "github.com/semel-go/semel"

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
		Resolved: applied || r.OwnedBy(p.Token) && r.State == p.Resolution.StateAfter(),
		Record:   r.Record(now),
	}
}
