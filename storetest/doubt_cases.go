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
			Name:  "recovery/ignores MaxAttempts",
			Why:   "a record in doubt by attempts could never be recovered",
			check: recoveryIgnoresLimit,
		},
		{
			Name:  "recovery/its release starts a run like any other",
			Why:   "cause and start of a doubt that is settled would mark the next run as a recovery",
			check: runAfterRecovery,
		},
		{
			Name:  "attempts/the limit leaves a doubt",
			Why:   "work that kills its process would kill one process after the other",
			check: attemptsLimit,
		},
		{
			Name:  "attempts/no limit for the owner",
			Why:   "the owner's own repeated claim is no attempt: a lost reply at the limit would leave a doubt with a run behind it",
			check: attemptsOwner,
		},
		{
			Name:  "mark/once",
			Why:   "marking in two steps leaves a key locked for ever when the process dies between them",
			check: markOnce,
		},
		{
			Name:  "mark/over a released record",
			Why:   "what did not happen can be marked",
			check: markReleased,
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
	began := t.acquire(p).StartedAt
	t.advance(10 * lease)
	r := t.wantState("after a lapse AtMostOnce", key, semel.StateInDoubt)
	if r.Cause != semel.CauseLapse || r.ExpiresIn != semel.Forever {
		t.errorf("the record is %s; want cause lapse, expires never", brief(r))
	}
	began = t.read(key).StartedAt // the harness may have moved it
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
	before := t.read(other)
	t.advance(lease)
	before = t.read(other)
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

func attemptsLimit(t *T) {
	key := t.key()
	p := claimOf(key, semel.Token{})
	p.MaxAttempts = 3
	for range 3 {
		p.Token = semel.NewToken()
		t.acquire(p)
		t.finish(releaseOf(key, p.Token))
	}
	last := p.Token
	p.Token = semel.NewToken()
	if res := t.claim(p); res.Outcome != semel.ClaimInDoubt || res.Record.Cause != semel.CauseAttempts || res.Record.Attempt != 3 {
		t.fatalf("the fourth claim of three: %v, %s; want in doubt, cause attempts, attempt 3", res.Outcome, brief(res.Record))
	}
	t.fencedForever("after the limit was met", key, last)
	t.fencedForever("after the limit was met, with no token,", key, semel.Token{})
	t.advance(10 * retention)
	t.wantOutcome("long after the limit was met, without a limit", key, semel.ClaimInDoubt)
	t.resolve(key, semel.ResolveDidNotHappen)
	p.Token = semel.NewToken()
	t.acquire(p)
}

func attemptsOwner(t *T) {
	key := t.key()
	p := claimOf(key, semel.NewToken())
	p.MaxAttempts = 1
	t.acquire(p)
	t.acquire(p)
	t.advance(2 * lease)
	if r := t.acquire(p); r.Attempt != 1 {
		t.errorf("the owner's repeated claim counts: attempt %d", r.Attempt)
	}
}

func markOnce(t *T) {
	p := claimOf(t.key(), semel.NewToken())
	p.Mark = true
	first := t.claim(p)
	if first.Outcome != semel.ClaimAcquired || first.Record.State != semel.StateDone || first.Record.Result.Kind != semel.ResultMark {
		t.errorf("the first mark: %v, %s; want acquired, done", first.Outcome, brief(first.Record))
	}
	other := p
	other.Token = semel.NewToken()
	if res := t.claim(other); res.Outcome != semel.ClaimDone || res.Mine {
		t.errorf("another caller's mark: %v, mine %v; want done, not mine", res.Outcome, res.Mine)
	}
	if res := t.claim(p); res.Outcome != semel.ClaimDone || !res.Mine {
		t.errorf("the first mark sent again: %v, mine %v; want done, mine", res.Outcome, res.Mine)
	}
	t.advance(2 * retention)
	if res := t.claim(other); res.Outcome != semel.ClaimAcquired {
		t.errorf("a mark after the retention: %v; want acquired", res.Outcome)
	}
}

func markReleased(t *T) {
	key := t.key()
	releasedRecord(t, key)
	p := claimOf(key, semel.NewToken())
	p.Mark = true
	if res := t.claim(p); res.Outcome != semel.ClaimAcquired || res.Record.Attempt != 2 {
		t.errorf("a mark over a released record: %v, %s; want acquired, attempt 2", res.Outcome, brief(res.Record))
	}
	t.wantOutcome("after the mark", key, semel.ClaimDone)
}
