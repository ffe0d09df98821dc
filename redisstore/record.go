package redisstore

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// headSize is that of the fixed part of a record.
const headSize = 103

// row is a record as it is stored: the layout of docs/stores-protocol.md. Times are
// microseconds since 1970 on the server's clock; expiresAt 0 is never.
type row struct {
	state       semel.State
	policy      semel.Policy
	cause       semel.Cause
	kind        semel.ResultKind
	attempt     int
	fence       semel.Fence
	leaseUntil  int64
	expiresAt   int64
	startedAt   int64
	doubtSince  int64
	token       semel.Token
	fingerprint semel.Fingerprint
	scope       semel.ScopeID
	operation   string
	keyText     string
	data        []byte // the result when done, else the checkpoint
}

// parse reads a stored record. What is no record of this version is a
// [*semel.RecordFormatError].
func parse(key semel.KeyID, value string) (r row, err error) {
	if len(value) < headSize || value[0] != semel.RecordFormat {
		return r, unreadable(key, value)
	}
	b := []byte(value)
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }
	r = row{
		state: semel.State(b[1]), policy: semel.Policy(b[2]), cause: semel.Cause(b[3]), kind: semel.ResultKind(b[4]),
		attempt: int(binary.LittleEndian.Uint32(b[6:])), fence: semel.Fence(number(10)), leaseUntil: number(18), expiresAt: number(26),
		startedAt: number(34), doubtSince: number(42), token: semel.Token(b[50:66]), fingerprint: semel.Fingerprint(b[66:99]),
	}
	labels, ok := cut(b[headSize:], int(binary.LittleEndian.Uint32(b[99:])), &r.data)
	if !ok || r.state < semel.StateRunning || r.state > semel.StateInDoubt || !r.setLabels(labels) {
		return r, unreadable(key, value)
	}
	return r, nil
}

func (r *row) setLabels(b []byte) bool {
	if len(b) < 10 {
		return false
	}
	r.scope = semel.ScopeID(b[:8])
	var text []byte
	operation, ok := cut(b[10:], int(binary.LittleEndian.Uint16(b[8:])), &text)
	r.operation, r.keyText = string(operation), string(text)
	return ok
}

// cut splits the first n bytes off.
func cut(b []byte, n int, rest *[]byte) (head []byte, ok bool) {
	if n > len(b) {
		return nil, false
	}
	*rest = b[n:]
	return b[:n], true
}

func unreadable(key semel.KeyID, value string) error {
	format := 0
	if value != "" {
		format = int(value[0])
	}
	if format > semel.RecordFormatMax {
		return &semel.RecordFormatError{Format: format}
	}
	return fmt.Errorf("redisstore: the record %.4x is damaged; restore or delete its key: %w", key[:], &semel.RecordFormatError{Format: format})
}

func (r *row) ownedBy(t semel.Token) bool { return r.token == t && t != semel.Token{} }

func (r *row) alive(now int64) bool { return r.state == semel.StateRunning && now < r.leaseUntil }

// inDoubt reports a doubt, written down or by lapse.
func (r *row) inDoubt(now int64) bool {
	return r.state == semel.StateInDoubt ||
		r.state == semel.StateRunning && r.policy == semel.AtMostOnce && !r.alive(now)
}

// record is the row as everybody sees it at now. The scripts tell only of records that
// count.
func (r *row) record(key semel.KeyID, now int64) semel.Record {
	out := semel.Record{
		Key: key, State: r.state, Policy: r.policy, Fence: r.fence, Attempt: r.attempt, ExpiresIn: semel.Forever,
		Fingerprint: r.fingerprint, StartedAt: timeOf(r.startedAt), Cause: r.cause, Since: timeOf(r.doubtSince),
		ScopeID: r.scope, Operation: r.operation, KeyText: r.keyText,
	}
	if r.expiresAt != 0 && !r.inDoubt(now) {
		out.ExpiresIn = span(r.expiresAt, now)
	}
	switch {
	case r.inDoubt(now):
		r.showDoubt(&out)
	case r.state == semel.StateRunning:
		out.LeaseLeft = span(r.leaseUntil, now)
	}
	if r.state == semel.StateDone {
		out.Result = semel.StoredResult{Kind: r.kind, Data: r.data}
	} else {
		out.Checkpoint = r.data
	}
	return out
}

// showDoubt applies a lapse under AtMostOnce. A recovery that lapsed leaves the doubt
// that it was to settle.
func (r *row) showDoubt(out *semel.Record) {
	out.State = semel.StateInDoubt
	if r.cause == semel.CauseNone {
		out.Cause, out.Since = semel.CauseLapse, timeOf(r.leaseUntil)
	}
}

func span(at, now int64) time.Duration { return time.Duration(at-now) * time.Microsecond }

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
