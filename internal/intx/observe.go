package intx

import (
	"time"

	"github.com/semel-go/semel"
)

// observe tells the observer of an event, which more completes.
func (c *call[X]) observe(kind semel.EventKind, more func(*semel.Event)) {
	if c.set.Observer == nil {
		return
	}
	ev := semel.Event{Kind: kind, Operation: c.claim.Operation, Key: c.claim.Key}
	if more != nil {
		more(&ev)
	}
	c.set.Observer.Observe(ev)
}

// called observes a call of the database, which names are those of the store's.
func (c *call[X]) called(call string, sent time.Time, err error) {
	c.observe(semel.EventStoreCall, func(ev *semel.Event) { ev.Call, ev.Duration, ev.Err = call, time.Since(sent), err })
}

func (c *call[X]) observeRefusal(res *semel.ClaimResult) {
	kind := semel.EventConflict
	switch res.Outcome {
	case semel.ClaimMismatch:
		kind = semel.EventMismatch
	case semel.ClaimInDoubt:
		kind = semel.EventInDoubt
	}
	c.observe(kind, func(ev *semel.Event) { ev.Fence, ev.Attempt = res.Record.Fence, res.Record.Attempt })
}

// ended tells how a run ended: done, released, or none where nobody knows.
func (c *call[X]) ended(a *Answer, state semel.State, bytes int, began time.Time) {
	c.observe(semel.EventFinish, func(ev *semel.Event) {
		ev.Fence, ev.Attempt, ev.State, ev.Bytes, ev.Duration = a.Fence, a.Attempt, state, bytes, time.Since(began)
	})
}

// committed tells of a run whose result is in the store, and lets it purge.
func (c *call[X]) committed(a *Answer, found *Finding, began time.Time) {
	c.ended(a, semel.StateDone, len(found.Result.Data), began)
	if found.Result.Kind == semel.ResultTombstone {
		c.observe(semel.EventTombstone, func(ev *semel.Event) {
			ev.Fence, ev.Attempt, ev.Bytes, ev.Err = a.Fence, a.Attempt, found.Bytes, found.Judgement.Err
		})
	}
	c.purgeSometimes()
}
