package sqlstore

import (
	"math"
	"time"

	"github.com/semel-go/semel"
)

// never is the expiry of records that are kept forever.
const never int64 = math.MaxInt64

// columns are the columns of a record in the order of row.fields.
const columns = "key, format, state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause, fingerprint, scope_id, operation, key_text, result_kind, result, checkpoint"

// row is a record as its columns. Times are microseconds since 1970.
type row struct {
	key         []byte
	format      int
	state       semel.State
	policy      semel.Policy
	token       []byte
	fence       semel.Fence
	attempt     int
	leaseUntil  int64
	expiresAt   int64
	startedAt   int64
	doubtSince  int64
	cause       semel.Cause
	fingerprint []byte
	scopeID     []byte
	operation   string
	keyText     string
	resultKind  semel.ResultKind
	result      []byte
	checkpoint  []byte
}

// fields are the places to scan columns into.
func (r *row) fields() []any {
	return []any{
		&r.key, &r.format, &r.state, &r.policy, &r.token, &r.fence, &r.attempt, &r.leaseUntil, &r.expiresAt,
		&r.startedAt, &r.doubtSince, &r.cause, &r.fingerprint, &r.scopeID, &r.operation, &r.keyText,
		&r.resultKind, &r.result, &r.checkpoint,
	}
}

// ownedBy reports whether t is the record's token. The zero token owns nothing.
func (r *row) ownedBy(t semel.Token) bool {
	return t != semel.Token{} && string(r.token) == string(t[:])
}

// alive reports a live lease.
func (r *row) alive(now int64) bool { return r.state == semel.StateRunning && now < r.leaseUntil }

// inDoubt reports a doubt, written down or by lapse.
func (r *row) inDoubt(now int64) bool {
	return r.state == semel.StateInDoubt ||
		r.state == semel.StateRunning && r.policy == semel.AtMostOnce && !r.alive(now)
}

// gone reports an expired record. It counts as none, whether the purge has come
// by or not.
func (r *row) gone(now int64) bool {
	return r.expiresAt <= now && !r.alive(now) && !r.inDoubt(now)
}

// record is the row as everybody sees it at now.
func (r *row) record(now int64) semel.Record {
	if r.gone(now) {
		return semel.Record{}
	}
	out := semel.Record{
		Key: semel.KeyID(r.key), State: r.state, Policy: r.policy, Fence: r.fence, Attempt: r.attempt,
		ExpiresIn: left(r.expiresAt, now), Fingerprint: semel.Fingerprint(r.fingerprint),
		StartedAt: timeOf(r.startedAt), Cause: r.cause, Since: timeOf(r.doubtSince),
		ScopeID: semel.ScopeID(r.scopeID), Operation: r.operation, KeyText: r.keyText,
	}
	switch {
	case r.inDoubt(now):
		r.showDoubt(&out)
	case r.state == semel.StateRunning:
		out.LeaseLeft = left(r.leaseUntil, now)
	}
	if r.state == semel.StateDone {
		out.Result = semel.StoredResult{Kind: r.resultKind, Data: r.result}
	} else {
		out.Checkpoint = r.checkpoint
	}
	return out
}

// showDoubt applies a lapse under AtMostOnce. A recovery that lapsed leaves the
// doubt that it was to settle.
func (r *row) showDoubt(out *semel.Record) {
	out.State = semel.StateInDoubt
	out.ExpiresIn = semel.Forever
	if r.cause == semel.CauseNone {
		out.Cause, out.Since = semel.CauseLapse, timeOf(r.leaseUntil)
	}
}

// left is the time from now to at; Forever for never.
func left(at, now int64) time.Duration {
	if at == never {
		return semel.Forever
	}
	return time.Duration(at-now) * time.Microsecond
}

// after is now + d, rounded up, since retention is a minimum; never for Forever.
func after(now int64, d time.Duration) int64 {
	if d == semel.Forever {
		return never
	}
	us := now + int64(d/time.Microsecond)
	if d%time.Microsecond > 0 {
		us++
	}
	return us
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
