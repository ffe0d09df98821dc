package storetest

import (
	"github.com/semel-go/semel"
)

func attemptCases() []Case {
	return []Case{
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
