package sqlrecord

import (
	"errors"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

const (
	past   = 1_000_000
	now    = 2_000_000
	future = 3_000_000
)

func rowOf(state semel.State, policy semel.Policy, lease, expires int64) *Row {
	return &Row{
		Key: make([]byte, 16), Format: 1, State: state, Policy: policy, Token: make([]byte, 16), Fence: 1, Attempt: 1,
		LeaseUntil: lease, ExpiresAt: expires, StartedAt: past, Fingerprint: make([]byte, 33), ScopeID: make([]byte, 8),
	}
}

func TestRowIsSeenAtATime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		row  *Row
		want semel.State
	}{
		{"running", rowOf(semel.StateRunning, semel.AtLeastOnce, future, future), semel.StateRunning},
		{"running, expired: a live lease never expires", rowOf(semel.StateRunning, semel.AtLeastOnce, future, past), semel.StateRunning},
		{"lapsed", rowOf(semel.StateRunning, semel.AtLeastOnce, past, future), semel.StateRunning},
		{"lapsed now", rowOf(semel.StateRunning, semel.AtMostOnce, now, future), semel.StateInDoubt},
		{"lapsed and expired", rowOf(semel.StateRunning, semel.AtLeastOnce, past, past), semel.StateNone},
		{"in doubt by lapse, expired: a doubt never expires", rowOf(semel.StateRunning, semel.AtMostOnce, past, past), semel.StateInDoubt},
		{"in doubt, expired", rowOf(semel.StateInDoubt, semel.AtLeastOnce, past, past), semel.StateInDoubt},
		{"done", rowOf(semel.StateDone, semel.AtLeastOnce, past, future), semel.StateDone},
		{"done, expires now", rowOf(semel.StateDone, semel.AtLeastOnce, past, now), semel.StateNone},
		{"released, expired", rowOf(semel.StateReleased, semel.AtLeastOnce, past, past), semel.StateNone},
		{"done for ever", rowOf(semel.StateDone, semel.AtLeastOnce, past, Never), semel.StateDone},
	} {
		if got := c.row.Record(now).State; got != c.want {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
}

func TestRowShowsItsDoubt(t *testing.T) {
	t.Parallel()
	lapsed := rowOf(semel.StateRunning, semel.AtMostOnce, past, future)
	if r := lapsed.Record(now); r.Cause != semel.CauseLapse || r.Since.UnixMicro() != past || r.ExpiresIn != semel.Forever {
		t.Errorf("a lapse: %+v", r)
	}
	lapsed.Cause, lapsed.DoubtSince = semel.CauseHandler, past/2
	if r := lapsed.Record(now); r.Cause != semel.CauseHandler || r.Since.UnixMicro() != past/2 {
		t.Errorf("a recovery that lapsed: %+v; want the doubt that it was to settle", r)
	}
}

func TestRetentionIsAMinimum(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int64{
		time.Second: now + 1_000_000, time.Nanosecond: now + 1, 1001 * time.Nanosecond: now + 2, semel.Forever: Never,
		semel.Forever - 1: now + int64((semel.Forever-1)/time.Microsecond) + 1,
	} {
		if got := After(now, d); got != want {
			t.Errorf("After(%v) = %d; want %d", d, got, want)
		}
	}
}

// A row that cannot be read is a typed error, and never a crash or a second run.
func TestDamagedRowsAreTypedErrors(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*Row){
		"newer format":      func(r *Row) { r.Format = semel.RecordFormat + 1 },
		"format 0":          func(r *Row) { r.Format = 0 },
		"short key":         func(r *Row) { r.Key = r.Key[:15] },
		"no token":          func(r *Row) { r.Token = nil },
		"short fingerprint": func(r *Row) { r.Fingerprint = r.Fingerprint[:32] },
		"long scope":        func(r *Row) { r.ScopeID = make([]byte, 9) },
		"unknown state":     func(r *Row) { r.State = 5 },
		"no state":          func(r *Row) { r.State = 0 },
	} {
		r := rowOf(semel.StateDone, semel.AtLeastOnce, past, future)
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		damage(r)
		if _, ok := errors.AsType[*semel.RecordFormatError](r.Check()); !ok {
			t.Errorf("%s: %v; want a *semel.RecordFormatError", name, r.Check())
		}
	}
}
