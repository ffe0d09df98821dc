package storetest

import (
	"time"

	"github.com/semel-go/semel"
)

func doubtCases() []Case {
	return []Case{
		{
			Name:  "policy/the record's decides",
			Why:   "the second caller's setting must not run again what the first one promised to run at most once",
			check: recordsPolicyDecides,
		},
		{
			Name:  "doubt/by lapse since the lease ran out",
			Why:   "an operator looks for what happened at that time; the time of the first look says nothing",
			check: doubtSinceLapse,
		},
		{
			Name:  "doubt/keeps its first cause",
			Why:   "a second failure on top must not hide why the record came in doubt",
			check: doubtKeepsCause,
		},
		{
			Name:  "recovery/one at a time, and it tells of the doubt",
			Why:   "two recoveries at once can both conclude that it did not happen, and both run it",
			check: recovery,
		},
		{
			Name:  "recovery/given back unrun",
			Why:   "a recovery whose claim got no reply knows nothing: released, it would end the doubt and the work would run again",
			check: unrun,
		},
		{
			Name:  "recovery/ignores MaxAttempts",
			Why:   "a record in doubt by attempts could never be recovered",
			check: recoveryIgnoresLimit,
		},
		{
			Name:  "recovery/its release starts a run like any other",
			Why:   "cause and start of a doubt that is settled would mark the next run as a recovery",
			check: runAfterRecovery,
		},
	}
}

func recordsPolicyDecides(t *T) {
	held, free := t.key(), t.key()
	t.begin(held, semel.AtMostOnce)
	t.begin(free, semel.AtLeastOnce)
	t.advance(2 * lease)
	p := claimOf(held, semel.NewToken()) // AtLeastOnce
	if res := t.claim(p); res.Outcome != semel.ClaimInDoubt {
		t.errorf("claim AtLeastOnce of a lapsed AtMostOnce record: %v; want in doubt", res.Outcome)
	}
	p = claimOf(free, semel.NewToken())
	p.Policy = semel.AtMostOnce
	if r := t.acquire(p); r.Policy != semel.AtMostOnce {
		t.errorf("the run that took over has policy %v; want its own, at-most-once", r.Policy)
	}
}

func doubtSinceLapse(t *T) {
	key := t.key()
	p := claimOf(key, semel.NewToken())
	p.Policy = semel.AtMostOnce
	t.acquire(p)
	t.advance(10 * lease)
	r := t.wantState("after a lapse AtMostOnce", key, semel.StateInDoubt)
	if r.Cause != semel.CauseLapse || r.ExpiresIn != semel.Forever {
		t.errorf("the record is %s; want cause lapse, expires never", brief(r))
	}
	began := t.read(key).StartedAt // the harness may have moved it
	if doubt := r.Since.Sub(began); !near(doubt, lease) {
		t.errorf("in doubt since %v after its start; want the lease, %v", doubt, lease)
	}
	t.advance(time.Hour)
	if later := t.read(key); !near(later.Since.Sub(later.StartedAt), lease) {
		t.errorf("in doubt since %v after its start when read later; want %v still", later.Since.Sub(later.StartedAt), lease)
	}
}

func doubtKeepsCause(t *T) {
	key := t.key()
	owner := t.begin(key, semel.AtMostOnce)
	t.advance(2 * lease)
	lapsed := t.read(key)
	t.finish(doubtOf(key, owner, semel.CauseError))
	t.wantUnchanged("after the owner's finish in doubt of a lapsed run", lapsed, t.read(key))

	other := t.key()
	owner = doubtByHandler(t, other)
	t.advance(lease)
	before := t.read(other)
	t.finish(doubtOf(other, owner, semel.CauseError))
	t.wantUnchanged("after a second finish in doubt", before, t.read(other))
}

func recovery(t *T) {
	key := t.key()
	doubtByHandler(t, key)
	doubt := t.read(key)
	p := claimOf(key, semel.NewToken())
	p.Recovering = true
	r := t.acquire(p)
	if r.Policy != semel.AtMostOnce || r.Attempt != 2 || r.Fence <= doubt.Fence {
		t.errorf("the recovery runs as %s; want at-most-once, attempt 2, fence up", brief(r))
	}
	if r.Cause != semel.CauseHandler || !r.Since.Equal(doubt.Since) || !r.StartedAt.Equal(doubt.StartedAt) {
		t.errorf("the recovery is not told the doubt: cause %v since %v, run started %v; want %v, %v, %v",
			r.Cause, r.Since, r.StartedAt, doubt.Cause, doubt.Since, doubt.StartedAt)
	}
	second := claimOf(key, semel.NewToken())
	second.Recovering = true
	if res := t.claim(second); res.Outcome != semel.ClaimRunning {
		t.errorf("a second recovery: %v; want running", res.Outcome)
	}
	t.advance(2 * lease)
	lapsed := t.wantState("after the recovery lapsed", key, semel.StateInDoubt)
	if lapsed.Cause != semel.CauseHandler {
		t.errorf("after the recovery lapsed the cause is %v; want the first one, handler", lapsed.Cause)
	}
	t.acquire(second)
	t.fencedForever("after another recovery took over", key, p.Token)
	t.finish(doneOf(key, second.Token, "found"))
	if r := t.read(key); r.Cause != semel.CauseNone || string(r.Result.Data) != "found" {
		t.errorf("the recovered record is %s; want done with the result that was found, and no cause", brief(r))
	}
}

// unrun gives claims back whose reply was lost, as often as an engine repeats it.
func unrun(t *T) {
	doubtful, lapsed, plain := t.key(), t.key(), t.key()
	doubtByHandler(t, doubtful)
	owner := t.begin(lapsed, semel.AtMostOnce)
	t.advance(2 * lease)
	for _, key := range []semel.KeyID{doubtful, lapsed} {
		before := t.wantState("before the recovery", key, semel.StateInDoubt)
		p := recoveryOf(key)
		t.acquire(p)
		for range 2 {
			t.finish(unrunOf(key, p.Token))
			r := t.wantState("after a recovery was given back unrun", key, semel.StateInDoubt)
			if r.Cause != before.Cause || !near(r.Since.Sub(before.Since), 0) {
				t.errorf("the doubt is of cause %v since %v; want %v since %v still", r.Cause, r.Since, before.Cause, before.Since)
			}
		}
		t.acquire(recoveryOf(key))
		_, err := t.store.Finish(t.ctx, unrunOf(key, p.Token))
		t.wantFenced("a claim given back after another recovery began", err)
	}
	_, err := t.store.Finish(t.ctx, unrunOf(lapsed, owner))
	t.wantFenced("the first owner's claim given back after a recovery", err)

	owner = t.begin(plain, semel.AtMostOnce)
	t.advance(2 * lease) // in doubt by a lapse that has no run behind it
	for range 2 {
		t.finish(unrunOf(plain, owner))
		t.wantState("after a claim was given back unrun", plain, semel.StateReleased)
	}
}

func recoveryIgnoresLimit(t *T) {
	key := t.key()
	doubtByAttempts(releasedRecord)(t, key)
	p := claimOf(key, semel.NewToken())
	p.Recovering, p.MaxAttempts = true, 1
	if r := t.acquire(p); r.Cause != semel.CauseAttempts {
		t.errorf("the recovery is told cause %v; want attempts", r.Cause)
	}
}

func runAfterRecovery(t *T) {
	key := t.key()
	owner := underRecovery(t, key)
	t.finish(releaseOf(key, owner))
	if r := t.read(key); r.Cause != semel.CauseNone || !r.Since.IsZero() {
		t.errorf("the released record has cause %v since %v; want none", r.Cause, r.Since)
	}
	t.advance(lease)
	released := t.read(key)
	r := t.acquire(claimOf(key, semel.NewToken()))
	if r.Cause != semel.CauseNone || r.Policy != semel.AtLeastOnce {
		t.errorf("the next run is %s; want no cause, and its own policy", brief(r))
	}
	if !near(r.StartedAt.Sub(released.StartedAt), lease) && r.StartedAt.Sub(released.StartedAt) < lease {
		t.errorf("the next run started %v after the first one; want %v", r.StartedAt.Sub(released.StartedAt), lease)
	}
}
