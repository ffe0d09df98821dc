package storetest

import (
	"context"
	"time"

	"github.com/semel-go/semel"
)

func waitCases() []Case {
	return []Case{
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
	}
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
