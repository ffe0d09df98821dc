package storetest

import (
	"time"

	"github.com/semel-go/semel"
)

func ownerCases() []Case {
	return []Case{
		{
			Name:  "lost replies",
			Why:   "every call is executed and its reply lost, so its caller sends it again: a caller that met its own claim waited for itself, and the work ran 0 times",
			check: lostReplies,
		},
		{
			Name:  "stale owner/after a takeover",
			Why:   "a late owner finished or deleted the record of the new owner; it must be told ErrFenced, whatever became of the record",
			check: staleAfterTakeover,
		},
		{
			Name:  "stale owner/after a deletion and a new claim",
			Why:   "a deleted record's late owner must not own the one that came after it",
			check: staleAfterDeletion,
		},
		{
			Name:  "stale owner/after expiry",
			Why:   "an expired record's late owner must not finish the next run of the key",
			check: staleAfterExpiry,
		},
		{
			Name:  "several takeovers",
			Why:   "each run that dies leaves its token behind: only the last one owns the record, and attempts are counted at each claim",
			check: severalTakeovers,
		},
		{
			Name:  "renewal",
			Why:   "a lease that is not really prolonged, or not from now on, ends under a working owner and lets a second one in",
			check: renewal,
		},
		{
			Name:  "renewal raises the policy",
			Why:   "a run that has reached its point of no return must not be run again after a crash; lowering would lose a promise made",
			check: renewalRaisesPolicy,
		},
		{
			Name:  "finishing is no claim on a key of another owner",
			Why:   "one owner's token says nothing about other keys",
			check: tokensBelongToKeys,
		},
	}
}

func lostReplies(t *T) {
	lossy := &lossyStore{Store: t.store}
	t.store = lossy
	for range 5 {
		key := t.key()
		owner := semel.NewToken()
		begun := t.acquire(claimOf(key, owner))
		t.noErrorTwice("Renew", func() error {
			_, err := lossy.Renew(t.ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease})
			return err
		})
		t.finish(releaseOf(key, owner))
		next := semel.NewToken()
		again := t.acquire(claimOf(key, next))
		if begun.Attempt != 1 || again.Attempt != 2 {
			t.errorf("attempts %d and %d; want 1 and 2: a repeated claim must not count", begun.Attempt, again.Attempt)
		}
		t.finish(doneOf(key, next, "first"))
		res := t.wantOutcome("after the finish", key, semel.ClaimDone)
		if string(res.Record.Result.Data) != "first" {
			t.errorf("the result is %q, want the first", res.Record.Result.Data)
		}
		marked := claimOf(t.key(), semel.NewToken())
		marked.Mark = true
		if res := t.claim(marked); !res.Mine {
			t.errorf("a mark sent twice is %v, not mine: its caller would take it for somebody else's", res.Outcome)
		}
	}
}

func (t *T) noErrorTwice(what string, call func() error) {
	t.noError(what, call())
	t.noError(what+" again", call())
}

// fencedForever checks that the owner is refused everything, and changes nothing.
func (t *T) fencedForever(when string, key semel.KeyID, owner semel.Token) {
	before := t.read(key)
	_, err := t.store.Renew(t.ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease})
	t.wantFenced("the late owner's renew "+when, err)
	for _, p := range []semel.FinishParams{doneOf(key, owner, "late"), releaseOf(key, owner), doubtOf(key, owner, semel.CauseError)} {
		_, err := t.store.Finish(t.ctx, p)
		t.wantFenced("the late owner's finish as "+p.State.String()+" "+when, err)
	}
	if c, ok := t.subject.Store.(semel.Checkpointer); ok {
		_, err := c.Checkpoint(t.ctx, semel.CheckpointParams{Key: key, Token: owner, Data: []byte("late")})
		t.wantFenced("the late owner's checkpoint "+when, err)
	}
	t.wantUnchanged("after the late owner's calls "+when, before, t.read(key))
}

func staleAfterTakeover(t *T) {
	key := t.key()
	late := leaseOver(semel.AtLeastOnce)(t, key)
	second := t.begin(key, semel.AtLeastOnce)
	t.fencedForever("while the new owner runs", key, late)
	t.advance(2 * lease)
	t.fencedForever("after the new owner lapsed as well", key, late)
	t.finish(releaseOf(key, second))
	t.fencedForever("after the new owner's release", key, late)
	third := t.begin(key, semel.AtLeastOnce)
	t.finish(doneOf(key, third, "third"))
	t.fencedForever("after another owner's finish", key, late)
	t.fencedForever("after another owner's finish", key, second)
}

func staleAfterDeletion(t *T) {
	key := t.key()
	late := leaseOver(semel.AtLeastOnce)(t, key)
	t.resolve(key, semel.ResolveDelete)
	t.fencedForever("after the deletion", key, late)
	t.begin(key, semel.AtLeastOnce)
	t.fencedForever("after a new claim", key, late)
}

func staleAfterExpiry(t *T) {
	key := t.key()
	late := after(2*retention, running(semel.AtLeastOnce))(t, key)
	t.fencedForever("after expiry", key, late)
	t.begin(key, semel.AtLeastOnce)
	t.fencedForever("after a new claim", key, late)
}

func severalTakeovers(t *T) {
	key := t.key()
	var late []semel.Token
	fence := semel.Fence(0)
	for attempt := 1; attempt <= 4; attempt++ {
		p := claimOf(key, semel.NewToken())
		r := t.acquire(p)
		if r.Attempt != attempt || r.Fence <= fence {
			t.errorf("takeover %d: attempt %d, fence %d after %d", attempt, r.Attempt, r.Fence, fence)
		}
		fence = r.Fence
		for _, token := range late {
			t.fencedForever("after a takeover", key, token)
		}
		late = append(late, p.Token)
		t.advance(2 * lease)
	}
	t.finish(doneOf(key, late[len(late)-1], "last"))
}

func renewal(t *T) {
	key := t.key()
	owner := t.begin(key, semel.AtLeastOnce)
	for range 4 {
		t.advance(lease * 3 / 4)
		res, err := t.store.Renew(t.ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease})
		if err != nil || !near(res.LeaseLeft, lease) {
			t.fatalf("Renew: %v left, %v; want %v", res.LeaseLeft, err, lease)
		}
	}
	busy := t.wantOutcome("under a renewed lease", key, semel.ClaimRunning)
	if !near(busy.Record.LeaseLeft, lease) {
		t.errorf("the loser is told that %v of the lease is left, want %v", busy.Record.LeaseLeft, lease)
	}
	if r := t.read(key); !near(r.ExpiresIn, retention-3*lease) {
		t.errorf("expires in %v after renewals, want %v: lease and retention are separate", r.ExpiresIn, retention-3*lease)
	}
	t.advance(2 * lease)
	t.wantOutcome("after the renewed lease", key, semel.ClaimAcquired)
}

func renewalRaisesPolicy(t *T) {
	key := t.key()
	owner := t.begin(key, semel.AtLeastOnce)
	for _, policy := range []semel.Policy{semel.AtMostOnce, semel.AtLeastOnce, 0} {
		if _, err := t.store.Renew(t.ctx, semel.RenewParams{Key: key, Token: owner, Lease: lease, Policy: policy}); err != nil {
			t.fatalf("Renew with policy %v: %v", policy, err)
		}
		if r := t.read(key); r.Policy != semel.AtMostOnce {
			t.errorf("the policy is %v after a renewal with %v; want at-most-once, raised and never lowered", r.Policy, policy)
		}
	}
	t.advance(2 * lease)
	t.wantOutcome("after a lapse", key, semel.ClaimInDoubt)
}

func tokensBelongToKeys(t *T) {
	mine, other := t.key(), t.key()
	owner := t.begin(mine, semel.AtLeastOnce)
	t.begin(other, semel.AtLeastOnce)
	t.fencedForever("of another key", other, owner)
	t.advance(time.Second)
	t.finish(doneOf(mine, owner, "mine"))
	t.wantState("after the finish of another key", other, semel.StateRunning)
}
