package memstore_test

import (
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// handClock is a clock that the test moves.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time { return c.now }

func newHandStore(t *testing.T) (*memstore.Store, *handClock) {
	t.Helper()
	clock := &handClock{now: time.Unix(1_700_000_000, 0)}
	return newStore(t, &memstore.Options{Now: clock.Now}), clock
}

// The borders themselves: a lease and a record are over at their end, and an
// expiry with exactly half of its retention left is not moved.
func TestBorders(t *testing.T) {
	t.Parallel()
	store, clock := newHandStore(t)
	p := claimOf(randomKey(0))
	mustClaim(t, store, p, semel.ClaimAcquired)
	other := p
	other.Token = semel.NewToken()
	clock.now = clock.now.Add(p.Lease - 1)
	mustClaim(t, store, other, semel.ClaimRunning)
	clock.now = clock.now.Add(1)
	mustClaim(t, store, other, semel.ClaimAcquired)

	clock.now = clock.now.Add(p.Retention / 2)
	mustFinish(t, store, other, semel.StateDone)
	clock.now = clock.now.Add(p.Retention/2 - 1)
	mustClaim(t, store, p, semel.ClaimDone)
	clock.now = clock.now.Add(1)
	mustClaim(t, store, p, semel.ClaimAcquired)
}

// A store that is never told to purge does not only grow.
func TestStepsTakeExpiredRecordsAway(t *testing.T) {
	t.Parallel()
	store, clock := newHandStore(t)
	const perRetention = 1000
	for i := range 5 * perRetention {
		p := claimOf(randomKey(i))
		mustClaim(t, store, p, semel.ClaimAcquired)
		clock.now = clock.now.Add(p.Retention / perRetention)
	}
	if st := store.Stats(); st.Records > 2*perRetention {
		t.Errorf("%d records are kept, though only %d have not expired", st.Records, perRetention)
	}
}

// A record whose expiry moved while it was queued is deleted all the same, later.
func TestMovedExpiryIsNotForgotten(t *testing.T) {
	t.Parallel()
	store, clock := newHandStore(t)
	p := claimOf(randomKey(0))
	mustClaim(t, store, p, semel.ClaimAcquired)
	clock.now = clock.now.Add(p.Retention * 2 / 3)
	mustFinish(t, store, p, semel.StateDone)
	clock.now = clock.now.Add(p.Retention / 2)
	if res := purge(t, store); res.Purged != 0 || res.More {
		t.Errorf("%+v before the moved expiry; want nothing", res)
	}
	clock.now = clock.now.Add(p.Retention)
	if res := purge(t, store); res.Purged != 1 || store.Stats() != (memstore.Stats{MaxBytes: store.Stats().MaxBytes}) {
		t.Errorf("%+v after the moved expiry, then %+v; want one record purged and nothing left", res, store.Stats())
	}
}

// A purge leaves records alone whose expiry it may not understand.
func TestPurgeSparesNewerFormats(t *testing.T) {
	t.Parallel()
	store, clock := newHandStore(t)
	p := claimOf(randomKey(0))
	mustClaim(t, store, p, semel.ClaimAcquired)
	store.SetFormat(p.Key, semel.RecordFormatMax+1)
	clock.now = clock.now.Add(2 * p.Retention)
	if res := purge(t, store); res.Purged != 0 {
		t.Errorf("%+v; want a record of a newer format to stay", res)
	}
}

func mustClaim(t *testing.T, store *memstore.Store, p semel.ClaimParams, want semel.Outcome) {
	t.Helper()
	if res, err := store.Claim(t.Context(), p); err != nil || res.Outcome != want {
		t.Fatalf("claim: %v, %v; want %v", res.Outcome, err, want)
	}
}

func mustFinish(t *testing.T, store *memstore.Store, p semel.ClaimParams, state semel.State) {
	t.Helper()
	if _, err := store.Finish(t.Context(), semel.FinishParams{Key: p.Key, Token: p.Token, State: state, Retention: p.Retention}); err != nil {
		t.Fatal(err)
	}
}

func purge(t *testing.T, store *memstore.Store) semel.PurgeResult {
	t.Helper()
	res, err := store.Purge(t.Context(), semel.PurgeParams{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
