package sqlrecord

import "github.com/semel-go/semel"

// Fresh is the record that a claim makes for a key that has none.
func Fresh(p *semel.ClaimParams, now, fence int64) *Row {
	r := &Row{
		Key: p.Key[:], Format: semel.RecordFormat, State: semel.StateRunning, Policy: p.Policy, Token: p.Token[:],
		Fence: semel.Fence(fence), Attempt: 1, LeaseUntil: After(now, p.Lease), ExpiresAt: After(now, p.Retention), StartedAt: now,
		Fingerprint: p.Fingerprint[:], ScopeID: p.ScopeID[:], Operation: p.Operation, KeyText: p.KeyText,
	}
	if p.Mark {
		r.State, r.ResultKind = semel.StateDone, semel.ResultMark
	}
	return r
}

// Unclaimed answers a claim for a record that it cannot have, and reports whether
// that is so. The statement that moves the others has the same rules as its
// condition.
func Unclaimed(r *Row, p *semel.ClaimParams, now int64) (res semel.ClaimResult, ok bool) {
	switch {
	case r.Gone(now):
		return res, false
	case string(r.Fingerprint) != string(p.Fingerprint[:]):
		return semel.ClaimResult{Outcome: semel.ClaimMismatch}, true
	case r.State == semel.StateDone:
		return Claimed(r, p, now, semel.ClaimDone), true
	case r.State == semel.StateRunning && r.OwnedBy(p.Token):
		return res, false
	case r.Alive(now):
		return Claimed(r, p, now, semel.ClaimRunning), true
	case r.InDoubt(now) && !p.Recovering:
		return Claimed(r, p, now, semel.ClaimInDoubt), true
	}
	return res, false
}

// Claimed tells of the record after the claim. In doubt it may have got by the
// claim itself, when its attempts are used up.
func Claimed(r *Row, p *semel.ClaimParams, now int64, outcome semel.Outcome) semel.ClaimResult {
	if r.State == semel.StateInDoubt {
		outcome = semel.ClaimInDoubt
	}
	return semel.ClaimResult{Outcome: outcome, Mine: r.OwnedBy(p.Token), Record: r.Record(now)}
}
