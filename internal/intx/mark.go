package intx

import (
	"context"
	"time"

	"github.com/semel-go/semel"
)

// Mark claims the key of op in a transaction of the caller and reports whether it
// is the first to do so.
func (f *Flow[X]) Mark(ctx context.Context, tx X, op semel.Op) (first bool, err error) {
	c, err := f.call(op)
	if err != nil {
		return false, err
	}
	res, err := c.markWithin(ctx, tx, max(time.Until(c.patient), noSeatLeft))
	for _, former := range c.former {
		if err != nil || res.Outcome != semel.ClaimMismatch {
			break
		}
		c.claim.Fingerprint = former
		res, err = c.markWithin(ctx, tx, noSeatLeft)
	}
	switch {
	case c.locked(ctx, err):
		return false, c.inProgress(nil)
	case err != nil:
		return false, err
	case res.Outcome == semel.ClaimAcquired:
		c.observe(semel.EventClaim, func(ev *semel.Event) { ev.Fence, ev.Attempt = res.Record.Fence, res.Record.Attempt })
		return true, nil
	}
	_, err = c.answered(&res)
	return false, err
}

func (c *call[X]) markWithin(ctx context.Context, tx X, wait time.Duration) (semel.ClaimResult, error) {
	sent := time.Now()
	res, err := c.db.Mark(ctx, tx, c.claim, wait)
	c.called("claim", sent, err)
	return res, err
}
