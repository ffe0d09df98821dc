package inbox

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

// The records of a box and of an engine are of one kind, and stand in one table.
func TestRecordsOfAnEngine(t *testing.T) {
	t.Parallel()
	everywhere(t, []rule{
		{name: "a live lease is in progress", run: liveLease},
		{name: "a record in doubt stays so", run: inDoubt},
		{name: "a released record is taken over", run: released},
		{name: "a lapsed lease is taken over", run: lapsed},
		{name: "an expired record is taken over", run: expired},
		{name: "an engine replays what a box recorded", run: engineReplays},
		{name: "commits set off the purge", run: purges},
		{name: "a newer record is left alone", run: newerFormat},
	})
}

// claimed makes a record of another mode for op, and says with which token.
func claimed(t *testing.T, f *fixture, op semel.Op, policy semel.Policy) *semel.ClaimParams {
	t.Helper()
	r, err := semel.NewRecorder(nil)
	if err != nil {
		t.Fatal(err)
	}
	op.Policy, op.Lease, op.Retention = policy, time.Minute, time.Hour
	p, _, err := r.ClaimOf(op)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := f.store.Claim(t.Context(), *p); err != nil || res.Outcome != semel.ClaimAcquired {
		t.Fatalf("claim: %v, %v", res.Outcome, err)
	}
	return p
}

// alter changes the only record behind the store's back.
func (f *fixture) alter(t *testing.T, set string) {
	t.Helper()
	if _, err := f.db.ExecContext(t.Context(), "UPDATE semel_record SET "+set); err != nil {
		t.Fatal(err)
	}
}

func liveLease(t *testing.T, f *fixture) {
	claimed(t, f, opOf("r"), semel.AtLeastOnce)
	_, err := f.box(t, nil).do(t.Context(), opOf("r"), withdrawing("r", 1))
	wantInProgress(t, err, nil)
	other := opOf("r")
	other.Input = semel.InputString("another")
	_, err = f.box(t, nil).do(t.Context(), other, withdrawing("r", 1))
	if _, ok := errors.AsType[*semel.MismatchError](err); !ok {
		t.Errorf("another input: %v; want a mismatch, which beats running", err)
	}
}

func inDoubt(t *testing.T, f *fixture) {
	p := claimed(t, f, opOf("r"), semel.AtMostOnce)
	if _, err := f.store.Finish(t.Context(), semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateInDoubt, Cause: semel.CauseHandler, Retention: time.Hour}); err != nil {
		t.Fatal(err)
	}
	_, err := f.box(t, nil).do(t.Context(), opOf("r"), withdrawing("r", 1))
	if doubt, ok := errors.AsType[*semel.InDoubtError](err); !ok || doubt.Cause != semel.CauseHandler {
		t.Errorf("error %v; want in doubt", err)
	}
}

func released(t *testing.T, f *fixture) {
	p := claimed(t, f, opOf("r"), semel.AtLeastOnce)
	if _, err := f.store.Finish(t.Context(), semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: time.Hour}); err != nil {
		t.Fatal(err)
	}
	takeOver(t, f, "r", 2)
}

func lapsed(t *testing.T, f *fixture) {
	claimed(t, f, opOf("r"), semel.AtLeastOnce)
	f.alter(t, "lease_until = 1")
	takeOver(t, f, "r", 2)
}

// Public tracker: an expired row still answers while the purge is behind.
func expired(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	if _, err := b.do(t.Context(), opOf("r"), withdrawing("old", 1)); err != nil {
		t.Fatal(err)
	}
	fence := f.read(t, opOf("r")).Fence
	f.alter(t, "expires_at = 1")
	f.forget(t, "old", 1)
	takeOver(t, f, "r", 1)
	if now := f.read(t, opOf("r")).Fence; now <= fence {
		t.Errorf("fence %d after %d; it must grow", now, fence)
	}
}

// takeOver lets a first try fail, which must leave the record as it was, and a second
// one run.
func takeOver(t *testing.T, f *fixture, name string, attempt int) {
	t.Helper()
	b := f.box(t, nil)
	before := f.read(t, opOf(name))
	h := hold(t, b, opOf(name), name)
	failure := errors.New("no")
	if err := h.end(failure); !errors.Is(err, failure) {
		t.Errorf("the work that fails: %v", err)
	}
	after := f.read(t, opOf(name))
	if after.State != before.State || after.Fence != before.Fence || after.Attempt != before.Attempt {
		t.Errorf("the record was %+v and is %+v after a rollback", before, after)
	}
	res, err := b.do(t.Context(), opOf(name), withdrawing(name, 1))
	if err != nil || res.Replayed || res.Attempt != attempt || res.Fence <= before.Fence {
		t.Errorf("%+v, %v; want attempt %d with a higher fence", res, err, attempt)
	}
}

func engineReplays(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	first, err := b.do(t.Context(), opOf("r"), withdrawing("r", 3))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := semel.New(f.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(t.Context())
	_, rec, err := engine.Begin(t.Context(), opOf("r"))
	if err != nil || rec == nil || rec.Fence != first.Fence {
		t.Errorf("record %+v, %v; want the box's", rec, err)
	}
}

func purges(t *testing.T, f *fixture) {
	b := f.box(t, &inbox.Options{PurgeEvery: time.Nanosecond})
	if _, err := b.do(t.Context(), opOf("old"), withdrawing("old", 1)); err != nil {
		t.Fatal(err)
	}
	f.alter(t, "expires_at = 1")
	if _, err := b.do(t.Context(), opOf("new"), withdrawing("new", 1)); err != nil {
		t.Fatal(err)
	}
	if n := f.number(t, "SELECT COUNT(*) FROM semel_record"); n != 1 {
		t.Errorf("%d records; want the expired one purged", n)
	}
	f.forget(t, "old", 1)
}

// forget takes a withdrawal back whose record is gone.
func (f *fixture) forget(t *testing.T, name string, amount int) {
	t.Helper()
	for _, text := range []string{
		fmt.Sprintf("DELETE FROM withdrawal WHERE op = '%s'", name),
		fmt.Sprintf("UPDATE account SET balance = balance + %d WHERE id = 1", amount),
	} {
		if _, err := f.db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}

func newerFormat(t *testing.T, f *fixture) {
	b := f.box(t, nil)
	if _, err := b.do(t.Context(), opOf("r"), withdrawing("r", 1)); err != nil {
		t.Fatal(err)
	}
	f.alter(t, fmt.Sprintf("format = %d", semel.RecordFormatMax+1))
	_, err := b.do(t.Context(), opOf("r"), withdrawing("r", 1))
	if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok || f.times(t, "r") != 1 {
		t.Errorf("error %v, %d effects; want the format refused and nothing run", err, f.times(t, "r"))
	}
}
