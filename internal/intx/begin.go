package intx

import (
	"context"
	"errors"
	"time"

	"github.com/semel-go/semel"
)

// How long the first claim of a key waits behind another transaction, which it
// does without a seat.
const (
	glance     = 20 * time.Millisecond
	noSeatLeft = time.Millisecond // there will be no second claim
)

// begin opens a transaction that holds the claim, or answers. A duplicate that
// meets a transaction under way takes a seat and waits.
func (c *call[X]) begin(ctx context.Context) (Tx[X], semel.ClaimResult, error) {
	first := glance
	if len(c.seats) == cap(c.seats) {
		first = noSeatLeft
	}
	tx, res, err := c.claimWithin(ctx, first)
	if !c.locked(ctx, err) {
		return tx, res, c.unclaimed(ctx, err)
	}
	left := time.Until(c.patient)
	if !c.wait || left <= 0 {
		return nil, res, c.inProgress(nil)
	}
	select {
	case c.seats <- struct{}{}:
		defer func() { <-c.seats }()
	default:
		return nil, res, c.inProgress(semel.ErrWaitersFull)
	}
	tx, res, err = c.claimWithin(ctx, left)
	if c.locked(ctx, err) {
		return nil, res, c.inProgress(nil)
	}
	return tx, res, c.unclaimed(ctx, err)
}

// locked reports a claim that another transaction keeps out, if the caller is still
// there.
func (c *call[X]) locked(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && c.db.Class(err) == ClassLocked
}

// inProgress tells a duplicate of a transaction under way, of which nothing is known.
func (c *call[X]) inProgress(cause error) error {
	c.observe(semel.EventConflict, func(ev *semel.Event) { ev.Err = cause })
	return &semel.InProgressError{RetryAfter: time.Second, Err: cause}
}

// unclaimed is why there is no claim.
func (c *call[X]) unclaimed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if _, unreadable := errors.AsType[*semel.RecordFormatError](err); unreadable {
		return &semel.StoreError{Call: "claim", Err: err}
	}
	err = c.failed("claim", err)
	if c.began.IsZero() {
		c.began = time.Now()
	}
	if u, again := errors.AsType[*undone](err); again && time.Since(c.began) > c.set.Timeout {
		return u.err
	}
	return err
}

// claimWithin claims, and under the former fingerprints where the record does not
// match. wait bounds the wait for the key, the timeout everything else.
func (c *call[X]) claimWithin(ctx context.Context, wait time.Duration) (tx Tx[X], res semel.ClaimResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+c.set.Timeout)
	defer cancel()
	current := c.claim.Fingerprint
	tx, res, err = c.claimOnce(ctx, wait)
	for _, former := range c.former {
		if err != nil || res.Outcome != semel.ClaimMismatch {
			break
		}
		c.claim.Fingerprint = former
		tx, res, err = c.claimOnce(ctx, wait)
	}
	if err != nil || res.Outcome != semel.ClaimAcquired {
		c.claim.Fingerprint = current // the next try begins with it again
	}
	return tx, res, err
}

func (c *call[X]) claimOnce(ctx context.Context, wait time.Duration) (Tx[X], semel.ClaimResult, error) {
	sent := time.Now()
	tx, res, err := c.db.Begin(ctx, c.claim, wait)
	told := false
	defer func() {
		if !told && tx != nil { // the observer panics
			_ = tx.Rollback()
		}
	}()
	c.called("claim", sent, err)
	told = true
	return tx, res, err
}
