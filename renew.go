package semel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// errTakenOver is the cause of a handler's context when the store says so.
var errTakenOver = fmt.Errorf("%w: %w", ErrLeaseLost, ErrFenced)

// wake is called by the wheel when a renewal or the local deadline is due.
// Each renewal is a call of its own, so that one that hangs delays no other key;
// stores that can do so send those of one moment together.
func (r *Run) wake() {
	now := r.e.now()
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return
	}
	lost := r.policy == AtLeastOnce && !r.lost && !r.finished && !now.Before(r.deadline)
	r.lost = r.lost || lost
	if !r.renewing && !r.taken && !now.Before(r.renewAt) {
		r.renewing = r.e.work.spawn(r.renew)
	}
	r.e.wheel.move(r, r.nextDue(now)) // under r.mu, so that the last word on r is the last move
	r.mu.Unlock()
	if lost {
		r.loseLease(ErrLeaseLost, EventLeaseLost)
	}
}

// nextDue is when the wheel has to look at the run again. r.mu is held.
func (r *Run) nextDue(now time.Time) time.Time {
	due := r.renewAt
	if r.renewing || r.taken {
		due = now.Add(r.claim.Lease) // the renewal says when it returns
	}
	if r.policy == AtLeastOnce && !r.lost && !r.finished && r.deadline.Before(due) {
		due = r.deadline
	}
	return due
}

// renew extends the lease once and says when the next renewal is due: after a
// third of the lease, or soon after one that failed. It never gives up while the
// run lasts: even a lapsed lease is worth renewing as long as nobody took over.
func (r *Run) renew() {
	err := r.renewCall(r.e.ctx, 0, r.claim.Lease/6)
	now := r.e.now()
	r.mu.Lock()
	r.renewing = false
	if err != nil {
		r.renewAt = now.Add(r.claim.Lease / 12)
	}
	over := r.ended || r.finished
	taken := errors.Is(err, ErrFenced) && !over
	if taken {
		r.lost, r.taken = true, true
	}
	r.e.wheel.move(r, r.nextDue(now))
	r.mu.Unlock()
	if taken {
		r.loseLease(errTakenOver, EventFenced)
	}
}

// renewCall renews within timeout. When it succeeds the local deadline moves.
func (r *Run) renewCall(ctx context.Context, policy Policy, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p := r.claim
	sent := r.e.now()
	_, err := r.e.store.Renew(ctx, RenewParams{Key: p.Key, Token: p.Token, Lease: p.Lease, Policy: policy})
	if err = r.e.called("renew", p.Key, sent, err); err != nil {
		return err
	}
	r.mu.Lock()
	r.deadline = localDeadline(sent, p.Lease)
	r.renewAt = sent.Add(p.Lease / 3)
	r.mu.Unlock()
	r.e.observe(r.event(EventRenew))
	return nil
}

// loseLease cancels the handler.
func (r *Run) loseLease(cause error, kind EventKind) {
	ev := r.event(kind)
	ev.Err = cause
	r.e.observe(ev)
	r.log(slog.LevelWarn, "semel: the lease is lost; the handler is cancelled", slog.Any("error", cause))
	r.cancel(cause)
}
