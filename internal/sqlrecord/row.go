package sqlrecord

import (
	"fmt"

	"github.com/semel-go/semel"
)

// Columns are the columns of a record in the order of Row.Fields.
const Columns = "key, format, state, policy, token, fence, attempt, lease_until, expires_at, started_at, doubt_since, cause, fingerprint, scope_id, operation, key_text, result_kind, result, checkpoint"

// Row is a record as its columns. Times are microseconds since 1970.
type Row struct {
	Key         []byte
	Format      int
	State       semel.State
	Policy      semel.Policy
	Token       []byte
	Fence       semel.Fence
	Attempt     int
	LeaseUntil  int64
	ExpiresAt   int64
	StartedAt   int64
	DoubtSince  int64
	Cause       semel.Cause
	Fingerprint []byte
	ScopeID     []byte
	Operation   string
	KeyText     string
	ResultKind  semel.ResultKind
	Result      []byte
	Checkpoint  []byte
}

// Fields are the places to scan columns into.
func (r *Row) Fields() []any {
	return []any{
		&r.Key, &r.Format, &r.State, &r.Policy, &r.Token, &r.Fence, &r.Attempt, &r.LeaseUntil, &r.ExpiresAt,
		&r.StartedAt, &r.DoubtSince, &r.Cause, &r.Fingerprint, &r.ScopeID, &r.Operation, &r.KeyText,
		&r.ResultKind, &r.Result, &r.Checkpoint,
	}
}

// OwnedBy reports whether t is the record's token. The zero token owns nothing.
func (r *Row) OwnedBy(t semel.Token) bool {
	return t != semel.Token{} && string(r.Token) == string(t[:])
}

// Alive reports a live lease.
func (r *Row) Alive(now int64) bool { return r.State == semel.StateRunning && now < r.LeaseUntil }

// InDoubt reports a doubt, written down or by lapse.
func (r *Row) InDoubt(now int64) bool {
	return r.State == semel.StateInDoubt ||
		r.State == semel.StateRunning && r.Policy == semel.AtMostOnce && !r.Alive(now)
}

// Gone reports an expired record. It counts as none, whether the purge has come
// by or not.
func (r *Row) Gone(now int64) bool {
	return r.ExpiresAt <= now && !r.Alive(now) && !r.InDoubt(now)
}

// Record is the row as everybody sees it at now.
func (r *Row) Record(now int64) semel.Record {
	if r.Gone(now) {
		return semel.Record{}
	}
	out := semel.Record{
		Key: semel.KeyID(r.Key), State: r.State, Policy: r.Policy, Fence: r.Fence, Attempt: r.Attempt,
		ExpiresIn: Left(r.ExpiresAt, now), Fingerprint: semel.Fingerprint(r.Fingerprint),
		StartedAt: timeOf(r.StartedAt), Cause: r.Cause, Since: timeOf(r.DoubtSince),
		ScopeID: semel.ScopeID(r.ScopeID), Operation: r.Operation, KeyText: r.KeyText,
	}
	switch {
	case r.InDoubt(now):
		r.showDoubt(&out)
	case r.State == semel.StateRunning:
		out.LeaseLeft = Left(r.LeaseUntil, now)
	}
	if r.State == semel.StateDone {
		out.Result = semel.StoredResult{Kind: r.ResultKind, Data: r.Result}
	} else {
		out.Checkpoint = r.Checkpoint
	}
	return out
}

// showDoubt applies a lapse under AtMostOnce. A recovery that lapsed leaves the
// doubt that it was to settle.
func (r *Row) showDoubt(out *semel.Record) {
	out.State = semel.StateInDoubt
	out.ExpiresIn = semel.Forever
	if r.Cause == semel.CauseNone {
		out.Cause, out.Since = semel.CauseLapse, timeOf(r.LeaseUntil)
	}
}

// Check refuses a record that this version cannot read: a newer format, or
// columns that no version wrote.
func (r *Row) Check() error {
	if r.Format > semel.RecordFormatMax {
		return &semel.RecordFormatError{Format: r.Format}
	}
	if r.Format < 1 || r.State < semel.StateRunning || r.State > semel.StateInDoubt ||
		len(r.Key) != len(semel.KeyID{}) || len(r.Token) != len(semel.Token{}) ||
		len(r.Fingerprint) != len(semel.Fingerprint{}) || len(r.ScopeID) != len(semel.ScopeID{}) {
		return fmt.Errorf("sqlstore: the record %.4x is damaged; restore or delete its row: %w", r.Key, &semel.RecordFormatError{Format: r.Format})
	}
	return nil
}

// Seen is the record if it can be read and counts, and nil if there is none,
// expired ones included. r may be nil.
func (r *Row) Seen(now int64) (*Row, error) {
	if r == nil {
		return nil, nil
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Gone(now) {
		return nil, nil
	}
	return r, nil
}
