package storetest

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/semel-go/semel"
)

func capabilityCases() []Case {
	return []Case{
		{
			Name:  "purge/in chunks",
			Why:   "one delete of everything stops the store for all others; and what is not counted cannot be watched",
			needs: needsPurger, check: purgeChunks,
		},
		{
			Name:  "purge/only the expired",
			Why:   "a purge that takes a live lease or a doubt makes work run twice",
			needs: needsPurger, check: purgeSpares,
		},
		{
			Name:  "list/pages in order",
			Why:   "an operator who pages through records must see each once and miss none",
			needs: needsLister, check: listPages,
		},
		{
			Name:  "list/filters by what is seen",
			Why:   "a lapse is written nowhere: a list by the stored state would hide exactly the records in doubt",
			needs: needsLister, check: listFilters,
		},
		{
			Name:  "wait/wakes on a change",
			Why:   "a waiter that is not woken waits its whole time though the result is there",
			needs: needsWaiter, check: waitWakes,
		},
		{
			Name:  "wait/returns at once when there is nothing to wait for",
			Why:   "the change between claim and wait must not be missed",
			needs: needsWaiter, check: waitReturns,
		},
		{
			Name:  "wait/ends with its context",
			Why:   "a waiter that cannot be stopped is a leak",
			needs: needsWaiter, check: waitEnds,
		},
		{
			Name:  "checkpoint/seen by the next run",
			Why:   "without the last checkpoint a second attempt repeats steps that took effect",
			needs: needsCheckpoint, check: checkpointKept,
		},
		{
			Name:  "checkpoint/only the owner of a running record",
			Why:   "a late owner's checkpoint would make the new owner skip steps",
			needs: needsCheckpoint, check: checkpointOwner,
		},
	}
}

// purgeAll purges until nothing is left to purge.
func (t *T) purgeAll() {
	purger := t.subject.Store.(semel.Purger)
	for range 1000 {
		res, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 100})
		if err != nil {
			t.fatalf("Purge: %v", err)
		}
		if !res.More {
			return
		}
	}
	t.fatalf("Purge says that there is more, 1000 times")
}

func purgeChunks(t *T) {
	keys := t.keysIn(doneRecord)
	t.advance(retention + 10*lease)
	purger := t.subject.Store.(semel.Purger)
	for range len(keys) {
		res, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 5})
		if err != nil || res.Purged > 5 || res.Purged < 0 {
			t.fatalf("Purge with limit 5: %+v, %v", res, err)
		}
		if res.More && (res.Lag <= 0 || !near(res.Lag, 10*lease) && res.Lag < 10*lease) {
			t.errorf("Purge says that there is more, due for %v; want about %v", res.Lag, 10*lease)
		}
		if !res.More {
			break
		}
	}
	res, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 5})
	if err != nil || res.Purged != 0 || res.More || res.Lag != 0 {
		t.errorf("Purge when all is purged: %+v, %v; want nothing", res, err)
	}
}

func purgeSpares(t *T) {
	type spared struct {
		name string
		in   situation
		want semel.State
	}
	rows := []spared{
		{"a live lease past its retention", leaseAlivePastRetention, semel.StateRunning},
		{"a record in doubt", doubtByHandler, semel.StateInDoubt},
		{"a lapsed AtMostOnce run", running(semel.AtMostOnce), semel.StateInDoubt},
		{"a record in doubt by attempts", doubtByAttempts(releasedRecord), semel.StateInDoubt},
		{"a lapsed recovery", underRecovery, semel.StateInDoubt},
	}
	keys := make([]semel.KeyID, len(rows))
	for i, row := range rows[1:] {
		keys[i+1] = t.key()
		row.in(t, keys[i+1])
	}
	t.advance(2 * retention)
	keys[0] = t.key()
	leaseAlivePastRetention(t, keys[0])
	fresh := t.key()
	doneRecord(t, fresh)
	t.purgeAll()
	for i, row := range rows {
		t.wantState("after a purge, "+row.name+":", keys[i], row.want)
	}
	t.wantState("after a purge, a record that is not expired:", fresh, semel.StateDone)
}

// listed returns the keys of all pages.
func (t *T) listed(p semel.ListParams) (keys []semel.KeyID) {
	lister := t.subject.Store.(semel.Lister)
	for range 1000 {
		res, err := lister.List(t.ctx, p)
		if err != nil || len(res.Records) > p.Limit {
			t.fatalf("List: %d records for limit %d, %v", len(res.Records), p.Limit, err)
		}
		for _, r := range res.Records {
			keys = append(keys, r.Key)
			if r.Result.Data != nil {
				t.errorf("List hands out result data")
			}
		}
		if !res.More {
			return keys
		}
		if len(res.Records) == 0 {
			t.fatalf("List says that there is more, and returns nothing")
		}
		p.After = &keys[len(keys)-1]
	}
	t.fatalf("List has more, 1000 times")
	return nil
}

func (t *T) wantListed(what string, p semel.ListParams, want []semel.KeyID) {
	got := t.listed(p)
	slices.SortFunc(want, compareKeys)
	if !slices.Equal(got, want) {
		t.errorf("List of %s: %v; want %v", what, got, want)
	}
}

func compareKeys(a, b semel.KeyID) int { return bytes.Compare(a[:], b[:]) }

func listPages(t *T) {
	keys := t.keysIn(doneRecord)
	for _, id := range hostileIDs() {
		doneRecord(t, id)
		keys = append(keys, id)
	}
	for _, limit := range []int{1, 7, len(keys), 1000} {
		t.wantListed("all", semel.ListParams{Limit: limit}, keys)
	}
	after := keys[len(keys)/2]
	t.wantListed("those after one", semel.ListParams{Limit: 5, After: &after}, keys[len(keys)/2+1:])
	t.advance(2 * retention)
	t.wantListed("the expired", semel.ListParams{Limit: 10}, nil)
}

func listFilters(t *T) {
	lapsed, held, alive, done, other := t.key(), t.key(), t.key(), t.key(), t.key()
	t.begin(lapsed, semel.AtLeastOnce)
	t.begin(held, semel.AtMostOnce)
	t.advance(2 * lease)
	t.begin(alive, semel.AtMostOnce)
	doneRecord(t, done)
	p := claimOf(other, semel.NewToken())
	p.ScopeID = semel.ScopeID{8}
	t.acquire(p)
	t.finish(releaseOf(other, p.Token))
	t.wantListed("running", semel.ListParams{State: semel.StateRunning, Limit: 10}, []semel.KeyID{lapsed, alive})
	t.wantListed("in doubt", semel.ListParams{State: semel.StateInDoubt, Limit: 10}, []semel.KeyID{held})
	t.wantListed("done", semel.ListParams{State: semel.StateDone, Limit: 10}, []semel.KeyID{done})
	t.wantListed("released", semel.ListParams{State: semel.StateReleased, Limit: 10}, []semel.KeyID{other})
	t.wantListed("one scope", semel.ListParams{ScopeID: &p.ScopeID, Limit: 10}, []semel.KeyID{other})
	t.wantListed("a state of a scope without one", semel.ListParams{ScopeID: &p.ScopeID, State: semel.StateDone, Limit: 10}, nil)
}

// waitTime bounds waits that must end by themselves; it is never waited for when
// the store is right.
const waitTime = 20 * time.Second

func waitWakes(t *T) {
	changes := map[string]func(key semel.KeyID, owner semel.Token){
		"done":     func(key semel.KeyID, owner semel.Token) { t.noError("finish", t.finishErr(doneOf(key, owner, "x"))) },
		"released": func(key semel.KeyID, owner semel.Token) { t.noError("finish", t.finishErr(releaseOf(key, owner))) },
		"in doubt": func(key semel.KeyID, owner semel.Token) {
			t.noError("finish", t.finishErr(doubtOf(key, owner, semel.CauseHandler)))
		},
	}
	for name, change := range changes {
		key := t.key()
		owner := t.begin(key, semel.AtLeastOnce)
		fence := t.read(key).Fence
		together(racers, func(i int) {
			if i == 0 {
				change(key, owner)
				return
			}
			if err := t.waitUntilChanged(key, fence); err != nil {
				t.errorf("waiting for %s: %v; want to be woken", name, err)
			}
		})
	}
}

// waitUntilChanged waits as the engine does: it looks again after each return,
// since a wait may return early.
func (t *T) waitUntilChanged(key semel.KeyID, fence semel.Fence) error {
	ctx, cancel := context.WithTimeout(t.ctx, waitTime)
	defer cancel()
	waiter := t.subject.Store.(semel.ChangeWaiter)
	for {
		if _, err := waiter.WaitChange(ctx, semel.WaitParams{Key: key, Fence: fence}); err != nil {
			return err
		}
		r, err := t.store.Read(ctx, semel.ReadParams{Key: key})
		if err != nil || r.State != semel.StateRunning {
			return err
		}
	}
}

func waitReturns(t *T) {
	waiter := t.subject.Store.(semel.ChangeWaiter)
	for name, in := range map[string]situation{"no record": noRecord, "done": doneRecord, "released": releasedRecord, "in doubt": doubtByHandler, "another fence": running(semel.AtLeastOnce)} {
		key := t.key()
		in(t, key)
		ctx, cancel := context.WithTimeout(t.ctx, waitTime)
		if _, err := waiter.WaitChange(ctx, semel.WaitParams{Key: key, Fence: 1}); err != nil || ctx.Err() != nil {
			t.errorf("waiting for a change with %s: %v, %v; want to return at once", name, err, ctx.Err())
		}
		cancel()
	}
}

func waitEnds(t *T) {
	key := t.key()
	t.begin(key, semel.AtLeastOnce)
	ctx, cancel := context.WithCancel(t.ctx)
	cancel()
	t.promptly("WaitChange", func() {
		_, _ = t.subject.Store.(semel.ChangeWaiter).WaitChange(ctx, semel.WaitParams{Key: key, Fence: t.read(key).Fence})
	})
}

func (t *T) checkpoint(key semel.KeyID, token semel.Token, data []byte) error {
	_, err := t.subject.Store.(semel.Checkpointer).Checkpoint(t.ctx, semel.CheckpointParams{Key: key, Token: token, Data: data})
	return err
}

func (t *T) wantCheckpoint(when string, r semel.Record, want []byte) {
	if !bytes.Equal(r.Checkpoint, want) {
		t.errorf("%s the checkpoint is %.40q; want %.40q", when, r.Checkpoint, want)
	}
}

func checkpointKept(t *T) {
	for _, data := range payloads() {
		key := t.key()
		owner := t.begin(key, semel.AtLeastOnce)
		t.noError("Checkpoint", t.checkpoint(key, owner, []byte("earlier")))
		t.noError("Checkpoint", t.checkpoint(key, owner, data))
		t.wantCheckpoint("after the checkpoint", t.read(key), data)
		t.finish(releaseOf(key, owner))
		t.wantCheckpoint("after a release", t.read(key), data)
		p := claimOf(key, semel.NewToken())
		t.wantCheckpoint("at the next run", t.acquire(p), data)
		t.finish(doubtOf(key, p.Token, semel.CauseHandler))
		t.wantCheckpoint("in doubt", t.read(key), data)
		p.Token, p.Recovering = semel.NewToken(), true
		t.wantCheckpoint("at the recovery", t.acquire(p), data)
		t.finish(doneOf(key, p.Token, "done"))
		t.wantCheckpoint("of the done record", t.read(key), nil)
	}
}

func checkpointOwner(t *T) {
	key := t.key()
	t.wantFenced("a checkpoint without a record", t.checkpoint(key, semel.NewToken(), []byte("x")))
	for name, in := range map[string]situation{"taken over": takenOver, "released": releasedRecord, "done": doneRecord, "in doubt": doubtByHandler} {
		key := t.key()
		owner := in(t, key)
		before := t.read(key)
		t.wantFenced("a checkpoint on a record that is "+name, t.checkpoint(key, owner, []byte("late")))
		t.wantUnchanged("after a checkpoint that was refused", before, t.read(key))
	}
	key = t.key()
	owner := leaseOver(semel.AtLeastOnce)(t, key)
	data := []byte("mine")
	t.noError("a lapsed owner's checkpoint, while nobody took over", t.checkpoint(key, owner, data))
	copy(data, "scribble")
	t.wantCheckpoint("after the caller used its buffer again", t.read(key), []byte("mine"))
}
