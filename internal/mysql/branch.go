package mysql

import (
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// branch is what a claim does with a record that it can have, as
// docs/stores-protocol.md names it.
type branch int

const (
	gone      branch = iota + 1 // expired: as if there were none
	taken                       // released, or lapsed under AtLeastOnce
	recovered                   // in doubt, by a claim that is to find out
	own                         // running with the caller's token
	spent                       // its attempts are used up
)

// branchOf judges a record that [sqlrecord.Unclaimed] leaves to the claim.
func branchOf(r *sqlrecord.Row, p *semel.ClaimParams, now int64) branch {
	switch {
	case r.Gone(now):
		return gone
	case r.State == semel.StateRunning && r.OwnedBy(p.Token):
		return own
	case r.InDoubt(now):
		return recovered
	case p.MaxAttempts > 0 && r.Attempt >= p.MaxAttempts:
		return spent
	}
	return taken
}

// after is the record r once the claim has taken it at now.
func (b branch) after(r *sqlrecord.Row, p *semel.ClaimParams, now int64) *sqlrecord.Row {
	next := sqlrecord.Fresh(p, now, max(int64(r.Fence)+1, now))
	if b == gone {
		return next
	}
	next.Attempt = r.Attempt + 1
	next.ScopeID, next.Operation, next.KeyText = r.ScopeID, r.Operation, r.KeyText
	if !p.Mark {
		next.Checkpoint = r.Checkpoint
	}
	if b == recovered {
		next.Policy, next.StartedAt, next.Cause, next.DoubtSince = semel.AtMostOnce, r.StartedAt, r.Cause, r.DoubtSince
		if r.Cause == semel.CauseNone {
			next.Cause, next.DoubtSince = semel.CauseLapse, r.LeaseUntil
		}
	}
	return next
}

// spend is the record r once its attempts are used up at now. A released one has
// no owner any more.
func spend(r *sqlrecord.Row, now int64) *sqlrecord.Row {
	next := *r
	next.State, next.Cause, next.DoubtSince = semel.StateInDoubt, semel.CauseAttempts, now
	if r.State == semel.StateReleased {
		next.Token = make([]byte, len(semel.Token{}))
	}
	return &next
}
