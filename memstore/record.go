package memstore

import (
	"math"
	"time"
	"unique"

	"github.com/semel-go/semel"
)

// instant is the store's time in nanoseconds since 1970.
type instant int64

// never is the expiry of records that are kept forever.
const never instant = math.MaxInt64

// add returns t + d; what overflows is never.
func (t instant) add(d time.Duration) instant {
	if d > 0 && t > never-instant(d) {
		return never
	}
	return t + instant(d)
}

// until returns the time from now to t; Forever for never.
func (t instant) until(now instant) time.Duration {
	if t == never {
		return semel.Forever
	}
	return time.Duration(t - now)
}

func (t instant) time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(t)).UTC()
}

// record is what is kept for a key. Absence is a record too: it has state none
// and remembers the highest fence that its key may have had.
type record struct {
	key         semel.KeyID
	token       semel.Token
	fingerprint semel.Fingerprint
	scope       semel.ScopeID

	format uint8
	state  semel.State
	policy semel.Policy
	cause  semel.Cause
	kind   semel.ResultKind

	attempt    int32
	fence      semel.Fence
	leaseUntil instant // while running
	expiresAt  instant
	startedAt  instant
	since      instant // of the doubt that cause tells of

	operation unique.Handle[string]
	keyText   string
	data      []byte // the result when done, else the checkpoint; never written to again
}

// standing is where a record stands at a given time: the rows of the contract's
// table. Lapse and expiry are nothing but this: nobody writes them down.
type standing uint8

const (
	absent   standing = iota // no record, or an expired one
	alive                    // running under a live lease
	lapsed                   // running, the lease is over, AtLeastOnce: claimable
	held                     // running, the lease is over, AtMostOnce: in doubt by lapse
	released                 // the last run ended without effect: claimable
	done                     // final
	inDoubt                  // the last run's outcome is unknown
)

// standing derives where r stands at now. Only records that nobody may still be
// waiting for expire: never a live lease, never a doubt.
func (r *record) standing(now instant) standing {
	switch {
	case r.state == semel.StateRunning && now < r.leaseUntil:
		return alive
	case r.state == semel.StateRunning && r.policy == semel.AtMostOnce:
		return held
	case r.state == semel.StateInDoubt:
		return inDoubt
	case r.state == semel.StateNone || r.expiresAt <= now:
		return absent
	case r.state == semel.StateRunning:
		return lapsed
	case r.state == semel.StateReleased:
		return released
	default:
		return done
	}
}

// deletableAt is when r, left alone, may be deleted.
func (r *record) deletableAt() instant {
	switch {
	case r.format > semel.RecordFormatMax, r.state == semel.StateInDoubt:
		return never
	case r.state == semel.StateRunning && r.policy == semel.AtMostOnce:
		return never
	case r.state == semel.StateRunning:
		return max(r.expiresAt, r.leaseUntil)
	default:
		return r.expiresAt
	}
}

// ownedBy reports whether t is the record's token. The zero token owns nothing.
func (r *record) ownedBy(t semel.Token) bool {
	return r.token == t && t != semel.Token{}
}

// at is the record as everybody sees it at now.
func (r record) at(now instant) semel.Record {
	switch r.standing(now) {
	case absent:
		return semel.Record{}
	case held:
		r = r.doubted(semel.CauseLapse, r.leaseUntil)
	}
	out := semel.Record{
		Key: r.key, State: r.state, Policy: r.policy, Fence: r.fence, Attempt: int(r.attempt),
		ExpiresIn: r.expiresAt.until(now), Fingerprint: r.fingerprint,
		StartedAt: r.startedAt.time(), Cause: r.cause, Since: r.since.time(),
		ScopeID: r.scope, Operation: r.operation.Value(), KeyText: r.keyText,
	}
	switch r.state {
	case semel.StateRunning:
		out.LeaseLeft = r.leaseUntil.until(now)
	case semel.StateInDoubt:
		out.ExpiresIn = semel.Forever
	}
	if r.state == semel.StateDone {
		out.Result = semel.StoredResult{Kind: r.kind, Data: r.data}
	} else {
		out.Checkpoint = r.data
	}
	return out
}
