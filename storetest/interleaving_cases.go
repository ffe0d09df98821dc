package storetest

import (
	"github.com/semel-go/semel"
)

func interleavingCases() []Case {
	return []Case{
		{
			Name:  "race/one token, many connections",
			Why:   "a client library that re-sends while the first call is under way must end up with one claim, and it is mine",
			check: raceSameToken,
		},
		{
			Name:  "race/finish, takeover, renewal and decision",
			Why:   "a finish that slips past a takeover stores the result of a run that was replaced",
			check: raceChaos,
		},
		{
			Name:  "race/finishes of one owner",
			Why:   "a finish that is repeated while the first is under way must not replace the first result",
			check: raceFinishes,
		},
		{
			Name:  "race/purge and claims",
			Why:   "a sweeper removed what was held: a live lease and a doubt are never purged, whatever expires around them",
			needs: needsPurger,
			check: racePurge,
		},
	}
}

func raceSameToken(t *T) {
	for range raceKeys {
		p := claimOf(t.key(), semel.NewToken())
		fences := make([]semel.Fence, racers)
		together(racers, func(i int) {
			res, err := t.store.Claim(t.ctx, p)
			if err != nil || res.Outcome != semel.ClaimAcquired || !res.Mine {
				t.errorf("a claim that was sent several times: %v, mine %v, %v; want acquired, mine", res.Outcome, res.Mine, err)
			}
			fences[i] = res.Record.Fence
		})
		for _, f := range fences {
			if f != fences[0] {
				t.errorf("one claim, sent several times, got the fences %v; want one", fences)
				return
			}
		}
	}
}

func raceFinishes(t *T) {
	for range raceKeys {
		key := t.key()
		owner := t.begin(key, semel.AtLeastOnce)
		var seen [racers]string
		together(racers, func(i int) {
			if _, err := t.store.Finish(t.ctx, doneOf(key, owner, string(rune('a'+i)))); err != nil {
				t.errorf("the owner's finish, repeated at once: %v", err)
			}
			if r, err := t.store.Read(t.ctx, semel.ReadParams{Key: key}); err == nil {
				seen[i] = string(r.Result.Data)
			}
		})
		for _, s := range seen {
			if s != seen[0] {
				t.errorf("readers saw the results %q; want one, the first", seen)
				return
			}
		}
	}
}

// chaos is what came of one key whose lapsed owner, a newcomer and an operator
// acted at once.
type chaos struct {
	finished, acquired, decided bool
}

func raceChaos(t *T) {
	for run := range chaosRuns {
		key := t.key()
		owner := leaseOver(semel.AtLeastOnce)(t, key)
		fence := t.read(key).Fence
		var c chaos
		acts := []func(){
			func() { c.finished = t.succeeded(t.finishErr(doneOf(key, owner, "owner"))) },
			func() { c.acquired = t.acquired(key) },
			func() { c.decided = t.decided(key, fence) },
			func() {
				_, err := t.store.Renew(t.ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease})
				t.succeeded(err)
			},
		}
		acts = acts[:len(acts)-run%2] // a renewal keeps the others out
		together(len(acts), func(i int) { acts[(i+run)%len(acts)]() })
		c.check(t, t.read(key))
	}
}

func (t *T) finishErr(p semel.FinishParams) error {
	_, err := t.store.Finish(t.ctx, p)
	return err
}

// succeeded reports an owner's success; a failure must be ErrFenced.
func (t *T) succeeded(err error) bool {
	if err != nil {
		t.wantFenced("the owner's call in a race", err)
	}
	return err == nil
}

func (t *T) acquired(key semel.KeyID) bool {
	res, err := t.store.Claim(t.ctx, claimOf(key, semel.NewToken()))
	t.noError("a claim in a race", err)
	return res.Outcome == semel.ClaimAcquired
}

func (t *T) decided(key semel.KeyID, fence semel.Fence) bool {
	res, err := t.store.Resolve(t.ctx, semel.ResolveParams{
		Key: key, Token: semel.NewToken(), Fence: fence, Resolution: semel.ResolveDidNotHappen, Retention: retention,
	})
	t.noError("a resolve in a race", err)
	return res.Resolved
}

// check: the owner's result is stored if and only if its finish succeeded, and
// then nobody may have run or decided beside it.
func (c chaos) check(t *T, r semel.Record) {
	stored := r.State == semel.StateDone && string(r.Result.Data) == "owner"
	switch {
	case c.finished && (c.acquired || c.decided):
		t.errorf("the owner finished, and beside it acquired: %v, decided: %v; the record is %s", c.acquired, c.decided, brief(r))
	case c.finished != stored:
		t.errorf("the owner's finish succeeded: %v; the record is %s", c.finished, brief(r))
	case c.acquired && r.State != semel.StateRunning && !c.decided:
		t.errorf("a newcomer acquired, and the record is %s", brief(r))
	case c.decided && !c.acquired && r.State != semel.StateReleased:
		t.errorf("the operator decided, and the record is %s", brief(r))
	}
}

func racePurge(t *T) {
	live, doubt := t.key(), t.key()
	owner := leaseAlivePastRetention(t, live)
	doubtByHandler(t, doubt)
	for range 4 {
		expired := t.keysIn(doneRecord)
		t.advance(retention + lease)
		_, err := t.store.Renew(t.ctx, semel.RenewParams{Key: live, Token: owner, Lease: 4 * retention})
		t.noError("Renew of the live lease", err)
		t.purgeWhileClaiming(expired)
		t.wantState("after a purge", live, semel.StateRunning)
		t.wantState("after a purge", doubt, semel.StateInDoubt)
	}
	t.finish(doneOf(live, owner, "done"))
}

// purgeWhileClaiming has one caller purge in small chunks while the others claim
// what has expired: a record that was claimed again is not expired any more.
func (t *T) purgeWhileClaiming(keys []semel.KeyID) {
	purger := t.subject.Store.(semel.Purger)
	together(racers, func(i int) {
		for n := i; n < len(keys); n += racers {
			if _, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 3}); err != nil {
				t.errorf("Purge: %v", err)
			}
			p := claimOf(keys[n], semel.NewToken())
			if res, err := t.store.Claim(t.ctx, p); err != nil || res.Outcome != semel.ClaimAcquired {
				t.errorf("claim of an expired record beside a purge: %v, %v", res.Outcome, err)
			}
			if _, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 3}); err != nil {
				t.errorf("Purge: %v", err)
			}
			t.noError("finish beside a purge", t.finishErr(doneOf(p.Key, p.Token, "again")))
		}
	})
	for _, key := range keys {
		t.wantState("after a purge beside its claim", key, semel.StateDone)
	}
}
