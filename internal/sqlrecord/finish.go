package sqlrecord

import "github.com/semel-go/semel"

// Kept is the result that a finish writes; only done keeps one.
func Kept(p *semel.FinishParams) semel.StoredResult {
	if p.State != semel.StateDone {
		return semel.StoredResult{}
	}
	return p.Result
}

// Unfinished answers for a record that a finish did not change, nil for none: the
// same verdict may be repeated by the run that gave it.
func Unfinished(r *Row, p *semel.FinishParams) error {
	if r != nil && r.OwnedBy(p.Token) && (r.State == p.State || p.Unrun && r.State == semel.StateInDoubt) {
		return nil
	}
	return semel.ErrFenced
}
