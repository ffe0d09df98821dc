package storetest

import (
	"sync"
	"sync/atomic"

	"github.com/semel-go/semel"
)

// How much the races do: enough for a flaw to show, little enough for a store
// that syncs each write to a disk.
const (
	racers    = 8
	raceKeys  = 24
	chaosRuns = 40
)

func raceCases() []Case {
	return []Case{
		{
			Name:  "race/claims of one key",
			Why:   "the loser of an insert race must be told that the work is running: not an error, not a claim of its own",
			check: raceClaims,
		},
		{
			Name:  "race/takeovers of a lapsed run",
			Why:   "a takeover that reads, judges and then writes overwrites another one's live lease",
			check: raceTakeovers,
		},
		{
			Name:  "race/claims of a released record",
			Why:   "after a release exactly one waiter may run",
			check: raceReleased,
		},
		{
			Name:  "race/recoveries",
			Why:   "two recoveries at once can both conclude that it did not happen, and both run it",
			check: raceRecoveries,
		},
		{
			Name:  "race/marks",
			Why:   "two callers that both see the mark for the first time both run",
			check: raceMarks,
		},
		{
			Name:  "race/two handles",
			Why:   "two processes on one store are two connections with two pools: the register must be one",
			needs: needsReopen,
			check: raceHandles,
		},
	}
}

// together runs f n times at once and waits for all.
func together(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// oneWinner claims each key from many callers at once: one acquires, all others
// are told what lost says.
func (t *T) oneWinner(stores []semel.Store, keys []semel.KeyID, lost semel.Outcome, set func(*semel.ClaimParams)) {
	wins := make([]atomic.Int32, len(keys))
	together(racers, func(i int) {
		for n, key := range keys {
			p := claimOf(key, semel.NewToken())
			set(&p)
			res, err := stores[i%len(stores)].Claim(t.ctx, p)
			switch {
			case err != nil:
				t.errorf("a claim in a race: %v; losing is no error", err)
			case res.Outcome == semel.ClaimAcquired:
				wins[n].Add(1)
			case res.Outcome != lost:
				t.errorf("the loser of a race is told %v; want %v", res.Outcome, lost)
			}
		}
	})
	for n := range keys {
		if got := wins[n].Load(); got != 1 {
			t.errorf("%d callers acquired one key; want exactly one", got)
		}
	}
}

func (t *T) claimers() []semel.Store { return []semel.Store{t.store} }

func plain(*semel.ClaimParams) {}

// keysIn returns keys that are all in one situation.
func (t *T) keysIn(in situation) (keys []semel.KeyID) {
	for range raceKeys {
		key := t.key()
		in(t, key)
		keys = append(keys, key)
	}
	return keys
}

func raceClaims(t *T) {
	t.oneWinner(t.claimers(), t.keysIn(noRecord), semel.ClaimRunning, plain)
}

func raceTakeovers(t *T) {
	keys := t.keysIn(running(semel.AtLeastOnce))
	t.advance(2 * lease)
	t.oneWinner(t.claimers(), keys, semel.ClaimRunning, plain)
	for _, key := range keys {
		if r := t.read(key); r.Attempt != 2 {
			t.errorf("attempt %d after one takeover; want 2", r.Attempt)
		}
	}
}

func raceReleased(t *T) {
	t.oneWinner(t.claimers(), t.keysIn(releasedRecord), semel.ClaimRunning, plain)
}

func raceRecoveries(t *T) {
	t.oneWinner(t.claimers(), t.keysIn(doubtByHandler), semel.ClaimRunning, func(p *semel.ClaimParams) { p.Recovering = true })
}

func raceMarks(t *T) {
	t.oneWinner(t.claimers(), t.keysIn(noRecord), semel.ClaimDone, func(p *semel.ClaimParams) { p.Mark = true })
}

func raceHandles(t *T) {
	w, stores := t.store.(*witness), t.claimers()
	for range 2 {
		other, err := t.subject.Reopen(t.ctx)
		if err != nil {
			t.fatalf("Subject.Reopen: %v", err)
		}
		stores = append(stores, w.on(other))
	}
	t.oneWinner(stores, t.keysIn(noRecord), semel.ClaimRunning, plain)
	lapsed := t.keysIn(running(semel.AtLeastOnce))
	t.advance(2 * lease)
	t.oneWinner(stores, lapsed, semel.ClaimRunning, plain)
}
