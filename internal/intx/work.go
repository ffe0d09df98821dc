package intx

import (
	"context"
	"errors"
	"time"

	"github.com/semel-go/semel"
)

// run lets the work happen and ends its transaction, however the work ends.
func (c *call[X]) run(ctx context.Context, tx Tx[X], res *semel.ClaimResult) (Answer, error) {
	began := time.Now()
	answer := Answer{Fence: res.Record.Fence, Attempt: res.Record.Attempt}
	returned := false
	defer func() {
		if !returned { // a panic or Goexit, of the observer too, which goes on by itself
			_ = tx.Rollback() // without a connection there is nothing to roll back
			c.ended(&answer, semel.StateReleased, 0, began)
		}
	}()
	c.observe(semel.EventClaim, func(ev *semel.Event) { ev.Fence, ev.Attempt = answer.Fence, answer.Attempt })
	found := c.work(ctx, tx.Handle())
	returned = true
	if found.State != semel.StateDone || ctx.Err() != nil || c.conflict(found.Failure) {
		err := c.giveUp(ctx, tx, &found)
		c.ended(&answer, semel.StateReleased, 0, began)
		return answer, err
	}
	answer, err := c.commit(ctx, tx, &found, answer)
	switch {
	case err == nil && answer.Replay == nil:
		c.committed(&answer, &found, began)
	case errors.Is(err, semel.ErrNoReply):
		c.ended(&answer, semel.StateNone, 0, began)
	default:
		c.ended(&answer, semel.StateReleased, 0, began)
	}
	return answer, err
}

func (c *call[X]) conflict(err error) bool { return err != nil && c.db.Class(err) == ClassConflict }

// giveUp rolls back, and says whether the work is to be done again: it lost against
// another transaction, or its connection is gone.
func (c *call[X]) giveUp(ctx context.Context, tx Tx[X], found *Finding) error {
	lost := tx.Rollback()
	err := found.Failure
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch {
	case errors.Is(lost, ErrEnded):
		return errors.Join(lost, err)
	case ctx.Err() != nil || err == nil:
		return err
	case lost != nil || c.conflict(err):
		return &undone{err}
	}
	return err
}

// commit stores the result and commits, on a context that does not end with the
// caller: from here on the outcome counts, not who waits for it.
func (c *call[X]) commit(ctx context.Context, tx Tx[X], found *Finding, answer Answer) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.set.Timeout)
	defer cancel()
	sent := time.Now()
	err := c.finish(ctx, tx, found)
	c.called("finish", sent, err)
	switch {
	case err == nil, errors.Is(err, ErrEnded):
		return answer, err
	case errors.Is(err, semel.ErrNoReply):
		return c.settle(ctx, answer, sent, err)
	}
	return answer, c.failed("commit", err)
}

func (c *call[X]) finish(ctx context.Context, tx Tx[X], found *Finding) error {
	if found.Undo {
		if err := tx.Undo(ctx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit(ctx, &semel.FinishParams{
		Key: c.claim.Key, Token: c.claim.Token, State: semel.StateDone, Result: found.Result, Retention: c.claim.Retention,
	})
}
