package storetest

import (
	"time"

	"github.com/semel-go/semel"
)

func fenceCases() []Case {
	return []Case{
		{
			Name:  "fence/over deletion",
			Why:   "a fence that starts again after a deletion lets an old owner pass the guard of the system it writes to",
			check: fenceOver("deletion", func(t *T, key semel.KeyID) { t.resolve(key, semel.ResolveDelete) }),
		},
		{
			Name:  "fence/over expiry",
			Why:   "a fence that starts again after expiry lets an old owner pass the guard of the system it writes to",
			check: fenceOver("expiry", func(t *T, key semel.KeyID) { t.advance(2 * retention) }),
		},
		{
			Name:  "fence/over a purge",
			Why:   "a fence that starts again after a purge lets an old owner pass the guard of the system it writes to",
			needs: needsPurger,
			check: fenceOver("a purge", func(t *T, key semel.KeyID) {
				t.advance(2 * retention)
				t.purgeAll()
			}),
		},
		{
			Name:  "fence/over the deletion of others",
			Why:   "a store that remembers one fence for many deleted keys must remember the highest",
			check: fenceOverOthers,
		},
		{
			Name:  "fence/follows the clock",
			Why:   "a plain counter is no fence: after a failover two holders had the same number 4; the store's clock in µs is its floor",
			check: fenceFollowsClock,
		},
		{
			Name:  "fence/only acquisitions and decisions raise it",
			Why:   "a fence that moves under its owner makes the guarded system refuse the owner's own writes",
			check: fenceStandsStill,
		},
	}
}

// fenceOver runs a key several times without time in between, lets it be
// forgotten, and looks at the next fence.
func fenceOver(what string, forget func(*T, semel.KeyID)) func(*T) {
	return func(t *T) {
		key := t.key()
		for range 3 {
			var last semel.Fence
			for range 50 {
				p := claimOf(key, semel.NewToken())
				r := t.acquire(p)
				if r.Fence <= last {
					t.fatalf("fence %d after %d", r.Fence, last)
				}
				last = r.Fence
				t.finish(releaseOf(key, p.Token))
			}
			forget(t, key)
			p := claimOf(key, semel.NewToken())
			if r := t.acquire(p); r.Fence <= last {
				t.fatalf("fence %d after %s, it was %d before", r.Fence, what, last)
			}
			t.finish(releaseOf(key, p.Token))
		}
	}
}

func fenceOverOthers(t *T) {
	key := t.key()
	neighbour := key
	neighbour[len(neighbour)-1]++
	releasedRecord(t, neighbour)
	var last semel.Fence
	for range 50 {
		p := claimOf(key, semel.NewToken())
		last = t.acquire(p).Fence
		t.finish(releaseOf(key, p.Token))
	}
	t.resolve(key, semel.ResolveDelete)
	t.resolve(neighbour, semel.ResolveDelete)
	if r := t.acquire(claimOf(key, semel.NewToken())); r.Fence <= last {
		t.errorf("fence %d after deletions, it was %d before", r.Fence, last)
	}
}

func fenceFollowsClock(t *T) {
	r := t.acquire(claimOf(t.key(), semel.NewToken()))
	if clock := semel.Fence(r.StartedAt.UnixMicro()); r.Fence < clock-semel.Fence(time.Millisecond/time.Microsecond) {
		t.errorf("the first fence is %d; want at least the store's clock in µs, %d", r.Fence, clock)
	}
}

func fenceStandsStill(t *T) {
	key := t.key()
	p := claimOf(key, semel.NewToken())
	fence := t.acquire(p).Fence
	check := func(when string) {
		if r := t.read(key); r.Fence != fence {
			t.errorf("%s the fence is %d, it was %d", when, r.Fence, fence)
		}
	}
	t.claim(p)
	check("after a repeated claim")
	t.wantOutcome("of another token", key, semel.ClaimRunning)
	check("after a lost claim")
	_, err := t.store.Renew(t.ctx, semel.RenewParams{Key: key, Token: p.Token, Lease: lease})
	t.noError("Renew", err)
	check("after a renewal")
	t.finish(doubtOf(key, p.Token, semel.CauseHandler))
	check("after a finish in doubt")
	t.finish(doneOf(key, p.Token, "done"))
	check("after a finish")
}
