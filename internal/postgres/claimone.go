package postgres

import (
	"context"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// tries bounds how often a call begins again because somebody changed the record
// between its snapshot and its lock.
const tries = 8

var errBusy = fmt.Errorf("%w: postgres: the record changed %d times under the call", semel.ErrStoreUnavailable, tries)

// Claim claims one key on q, which may be a transaction. Two statements are the
// most that it takes unless somebody changes the record meanwhile. An error of the
// database comes back as it is.
func (t *Text) Claim(ctx context.Context, q Querier, wait Wait, p *semel.ClaimParams) (semel.ClaimResult, error) {
	return t.goOn(ctx, q, wait, p, again)
}

// goOn goes on with a claim after a first step.
func (t *Text) goOn(ctx context.Context, q Querier, wait Wait, p *semel.ClaimParams, next step) (res semel.ClaimResult, err error) {
	owned := next == late
	for range tries {
		if next == again || next == late {
			res, next, _, err = t.enter(ctx, q, wait, p)
		}
		if err == nil && next == takes {
			res, next, err = t.take(ctx, q, wait, p)
		}
		if err != nil || next == settled {
			return res, unrenewed(owned, err)
		}
		owned = owned || next == late
	}
	return semel.ClaimResult{}, unrenewed(owned, errBusy)
}

// unrenewed is the failure of a claim. One that owns the record must be released.
func unrenewed(owned bool, err error) error {
	if err == nil || !owned {
		return err
	}
	return fmt.Errorf("%w: postgres: the claim is there, and its lease could not be renewed: %v", semel.ErrNoReply, err)
}

// step is what a claim comes to after a statement.
type step int

const (
	settled step = iota // it has its answer
	again               // begin again: the record changed meanwhile
	takes               // there is a record that can be claimed
	late                // it has the record, and its lease is over: begin again
)

// enterNew claims a new key; where there is a record it has to be done again, by
// enter.
func (t *Text) enterNew(ctx context.Context, q Querier, wait Wait, p *semel.ClaimParams) (semel.ClaimResult, step, error) {
	var fence, started, now int64
	found, err := scalars(ctx, q.Query, t.insertNew, insertArgs(wait, p), &fence, &started, &now)
	if err != nil || !found {
		return semel.ClaimResult{}, again, err
	}
	return claimed(sqlrecord.Fresh(p, started, fence), p, now)
}

// enter claims a new key, or judges the record that is there.
func (t *Text) enter(ctx context.Context, q Querier, wait Wait, p *semel.ClaimParams) (res semel.ClaimResult, next step, moved bool, err error) {
	var s *seen
	if err := q.Query(ctx, t.insert, insertArgs(wait, p), one(&s)); err != nil {
		return res, settled, false, err
	}
	if s == nil {
		return res, again, false, nil
	}
	res, next, err = s.entered(p)
	return res, next, s.moved, err
}

// take claims a record that is there.
func (t *Text) take(ctx context.Context, q Querier, wait Wait, p *semel.ClaimParams) (semel.ClaimResult, step, error) {
	var s *seen
	args := append(insertArgs(wait, p), int64(p.MaxAttempts), p.Recovering)
	if err := q.Query(ctx, t.retake, args, one(&s)); err != nil {
		return semel.ClaimResult{}, settled, err
	}
	if s == nil {
		return semel.ClaimResult{}, again, nil
	}
	return claimed(&s.row, p, s.now)
}

// entered judges what the first statement of a claim told.
func (s *seen) entered(p *semel.ClaimParams) (res semel.ClaimResult, next step, err error) {
	if s.moved {
		return claimed(sqlrecord.Fresh(p, s.row.StartedAt, int64(s.row.Fence)), p, s.now)
	}
	if err := s.row.Check(); err != nil {
		return res, settled, err
	}
	if res, ok := sqlrecord.Unclaimed(&s.row, p, s.now); ok {
		return res, settled, nil
	}
	return res, takes, nil
}

// claimed tells of a record after the claim. A lease that ran out while the
// statement waited for another transaction is no answer: the same token again
// renews it.
func claimed(r *sqlrecord.Row, p *semel.ClaimParams, now int64) (res semel.ClaimResult, next step, err error) {
	if r.State == semel.StateRunning && !r.Alive(now) {
		return res, late, nil
	}
	return sqlrecord.Claimed(r, p, now, semel.ClaimAcquired), settled, nil
}

// insertArgs are the parameters of [Text.Insert].
func insertArgs(wait Wait, p *semel.ClaimParams) []any {
	args := make([]any, 0, 13)
	return append(args, string(wait), uuid(p.Key), uuid(p.Token), int64(stateOf(p)), int64(p.Policy), micros(p.Lease), micros(p.Retention),
		p.Fingerprint[:], p.ScopeID[:], []byte(p.Operation), []byte(p.KeyText))
}

// stateOf is the state that a claim begins with.
func stateOf(p *semel.ClaimParams) semel.State {
	if p.Mark {
		return semel.StateDone
	}
	return semel.StateRunning
}
