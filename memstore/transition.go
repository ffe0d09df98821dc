package memstore

import (
	"bytes"
	"time"
	"unique"

	"github.com/semel-go/semel"
)

// claim is the table of [semel.Store.Claim]. A repeated claim of the owner comes
// before every rule but the fingerprint: whoever holds the record must not wait
// for itself.
func claim(r record, now instant, p *semel.ClaimParams) (record, semel.Outcome) {
	at := r.standing(now)
	if at == absent {
		return fresh(r.fence, now, p), semel.ClaimAcquired
	}
	if r.fingerprint != p.Fingerprint {
		return r, semel.ClaimMismatch
	}
	switch at {
	case alive, lapsed, held:
		if r.ownedBy(p.Token) {
			r.leaseUntil = now.add(p.Lease)
			return r, semel.ClaimAcquired
		}
	}
	switch at {
	case alive:
		return r, semel.ClaimRunning
	case lapsed, released:
		if exhausted(&r, p) {
			return r.givenUp(now), semel.ClaimInDoubt
		}
		return r.started(now, p), semel.ClaimAcquired
	case done:
		return r, semel.ClaimDone
	}
	if !p.Recovering {
		return r, semel.ClaimInDoubt
	}
	return r.recovering(now, p), semel.ClaimAcquired
}

// renew is [semel.Store.Renew]: the owner's lease goes on, lapsed or not, as long
// as nobody took over.
func renew(r record, now instant, p *semel.RenewParams) (record, error) {
	if !r.ownedBy(p.Token) {
		return r, semel.ErrFenced
	}
	switch r.standing(now) {
	case alive, lapsed, held:
	default:
		return r, semel.ErrFenced
	}
	r.leaseUntil = now.add(p.Lease)
	if p.Policy == semel.AtMostOnce {
		r.policy = semel.AtMostOnce
	}
	return r, nil
}

// finish is [semel.Store.Finish]. Done and released may be said again and change
// nothing: the first result stands.
func finish(r record, now instant, p *semel.FinishParams) (record, error) {
	if !r.ownedBy(p.Token) {
		return r, semel.ErrFenced
	}
	switch r.standing(now) {
	case absent:
		return r, semel.ErrFenced
	case done, released:
		if r.state != p.State {
			return r, semel.ErrFenced
		}
		return r, nil
	}
	if p.Unrun && r.cause != semel.CauseNone { // a recovery that nobody began, or the doubt itself
		if r.state == semel.StateRunning {
			r.state = semel.StateInDoubt
			r.expiresAt = r.expiresAt.prolonged(now, p.Retention)
		}
		return r, nil
	}
	if r.standing(now) == held {
		r = r.doubted(semel.CauseLapse, r.leaseUntil)
	}
	switch p.State {
	case semel.StateDone:
		r = r.finished(p.Result)
	case semel.StateReleased:
		r = r.free()
	case semel.StateInDoubt:
		r = r.doubted(p.Cause, now)
	}
	r.expiresAt = r.expiresAt.prolonged(now, p.Retention)
	return r, nil
}

// checkpoint is [semel.Checkpointer]: only the owner of a running record.
func checkpoint(r record, now instant, p *semel.CheckpointParams) (record, error) {
	if !r.ownedBy(p.Token) {
		return r, semel.ErrFenced
	}
	switch r.standing(now) {
	case alive, lapsed, held:
		r.data = bytes.Clone(p.Data)
		return r, nil
	}
	return r, semel.ErrFenced
}

// fresh is the first run of a key: nothing is left of an expired record but its fence.
func fresh(fence semel.Fence, now instant, p *semel.ClaimParams) record {
	return record{
		key: p.Key, fingerprint: p.Fingerprint, scope: p.ScopeID, format: semel.RecordFormat, fence: fence,
		operation: unique.Make(p.Operation), keyText: p.KeyText,
	}.started(now, p)
}

// started is a run that begins; a doubt, if there was one, is over.
func (r record) started(now instant, p *semel.ClaimParams) record {
	r.cause, r.since = semel.CauseNone, 0
	r.startedAt = now
	return r.acquired(now, p, p.Policy)
}

// recovering is a run that finds out what another one did. The doubt stays
// written in the record until it is settled, and so does its run's start.
func (r record) recovering(now instant, p *semel.ClaimParams) record {
	return r.doubted(semel.CauseLapse, r.leaseUntil).acquired(now, p, semel.AtMostOnce)
}

func (r record) acquired(now instant, p *semel.ClaimParams, policy semel.Policy) record {
	r.state = semel.StateRunning
	r.policy = policy
	r.token = p.Token
	r.fence = nextFence(r.fence, now)
	r.attempt++
	r.leaseUntil = now.add(p.Lease)
	r.expiresAt = now.add(p.Retention)
	if p.Mark {
		return r.finished(semel.StoredResult{Kind: semel.ResultMark})
	}
	return r
}

// finished is final: a checkpoint has served, a doubt is settled.
func (r record) finished(result semel.StoredResult) record {
	r.state = semel.StateDone
	r.cause, r.since = semel.CauseNone, 0
	r.kind, r.data = result.Kind, bytes.Clone(result.Data)
	return r
}

// free is claimable again; the checkpoint stays for the next run.
func (r record) free() record {
	r.state = semel.StateReleased
	r.cause, r.since = semel.CauseNone, 0
	return r
}

// doubted is in doubt. A doubt that was there already keeps its cause and start.
func (r record) doubted(cause semel.Cause, since instant) record {
	r.state = semel.StateInDoubt
	if r.cause == semel.CauseNone {
		r.cause, r.since = cause, since
	}
	return r
}

func exhausted(r *record, p *semel.ClaimParams) bool {
	return p.MaxAttempts > 0 && int(r.attempt) >= p.MaxAttempts
}

// givenUp is in doubt for its attempts. Whoever released it has had his say: the
// token is forgotten. A lapsed owner may still come back and settle it.
func (r record) givenUp(now instant) record {
	if r.state == semel.StateReleased {
		r.token = semel.Token{}
	}
	return r.doubted(semel.CauseAttempts, now)
}

// prolonged moves an expiry to now + retention if less than half of it remains.
func (t instant) prolonged(now instant, retention time.Duration) instant {
	if t.until(now) >= retention/2 {
		return t
	}
	return now.add(retention)
}

// nextFence grows with every acquisition, and over deletions too, since clocks do.
func nextFence(previous semel.Fence, now instant) semel.Fence {
	const microsecond = instant(time.Microsecond)
	return max(previous+1, semel.Fence(now/microsecond))
}

// errFormat is the answer to every method on a record of a newer format.
func errFormat(r *record) error {
	if r.format > semel.RecordFormatMax {
		return &semel.RecordFormatError{Format: int(r.format)}
	}
	return nil
}
