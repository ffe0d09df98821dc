package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// world is one store with the keys, tokens and fences of a random run.
type world struct {
	ctx     context.Context
	store   semel.Store
	advance func(context.Context, time.Duration) error
	keys    [modelKeys]semel.KeyID
	tokens  [modelTokens]semel.Token
	owners  [modelKeys]semel.Token // whoever acquired last
	// fences are the last one seen of each key, and the one before.
	fences, older [modelKeys]semel.Fence
}

// step applies one operation and returns what was said about it.
func (w *world) step(op operation) reply {
	key, token := w.keys[op.key], w.tokens[op.token]
	if op.byOwner {
		token = w.owners[op.key]
	}
	switch op.kind {
	case opClaim, opRecover, opMark:
		p := op.claimParams()
		p.Key, p.Token = key, token
		res, err := w.store.Claim(w.ctx, p)
		if res.Outcome == semel.ClaimAcquired {
			w.owners[op.key] = token
		}
		return reply{outcome: res.Outcome, mine: res.Mine, record: res.Record, err: err}
	case opRenew:
		_, err := w.store.Renew(w.ctx, semel.RenewParams{Key: key, Token: token, Lease: pick(modelLeases(), op.a), Policy: semel.Policy(op.b % 3)})
		return reply{err: err}
	case opFinish:
		p := op.finishParams()
		p.Key, p.Token = key, token
		_, err := w.store.Finish(w.ctx, p)
		return reply{err: err}
	case opResolve:
		return w.resolve(op, key, token)
	case opCheckpoint:
		_, err := w.store.(semel.Checkpointer).Checkpoint(w.ctx, semel.CheckpointParams{Key: key, Token: token, Data: fmt.Append(nil, "step ", op.a)})
		return reply{err: err}
	case opPurge:
		_, err := w.store.(semel.Purger).Purge(w.ctx, semel.PurgeParams{Limit: 1 + op.a%3})
		return reply{err: err}
	}
	return reply{err: w.advance(w.ctx, pick(modelAdvances(), op.a))}
}

func (w *world) resolve(op operation, key semel.KeyID, token semel.Token) reply {
	p := semel.ResolveParams{
		Key: key, Token: token, Fence: w.fences[op.key], Resolution: pick(modelResolutions(), op.a),
		Result: value("resolved"), Retention: pick(modelRetentions(), op.b),
	}
	if op.b%4 == 0 {
		p.Fence = w.older[op.key]
	}
	res, err := w.store.Resolve(w.ctx, p)
	return reply{resolved: res.Resolved, record: res.Record, err: err}
}

// look reads a key and tells whether its fence grew since the last look.
func (w *world) look(key int) (r semel.Record, grew int, err error) {
	r, err = w.store.Read(w.ctx, semel.ReadParams{Key: w.keys[key]})
	if err != nil || r.State == semel.StateNone || r.Fence == w.fences[key] {
		return r, 0, err
	}
	grew = 1
	if r.Fence < w.fences[key] {
		grew = -1
	}
	w.older[key], w.fences[key] = w.fences[key], r.Fence
	return r, grew, nil
}

// replyDifference compares what two stores said.
func replyDifference(got, want reply) string {
	switch {
	case errorClass(got.err) != errorClass(want.err):
		return fmt.Sprintf("answered error %v, want %v", got.err, want.err)
	case got.outcome != want.outcome:
		return fmt.Sprintf("answered %v, want %v", got.outcome, want.outcome)
	case got.mine != want.mine:
		return fmt.Sprintf("answered mine %v, want %v", got.mine, want.mine)
	case got.resolved != want.resolved:
		return fmt.Sprintf("answered resolved %v, want %v", got.resolved, want.resolved)
	}
	return recordDifference(got.record, want.record)
}

// recordDifference compares the records of two stores.
func recordDifference(got, want semel.Record) string {
	d := contentDifference(got, want)
	switch {
	case d != "":
	case want.State == semel.StateRunning && !near(got.LeaseLeft, want.LeaseLeft):
		d = "lease"
	case want.State != semel.StateNone && !near(got.ExpiresIn, want.ExpiresIn):
		d = "expiry"
	}
	if d == "" {
		return ""
	}
	return fmt.Sprintf("the %s differs: %s, want %s", d, brief(got), brief(want))
}

// errorClass is what a caller acts on.
func errorClass(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, semel.ErrFenced):
		return "fenced"
	case errors.Is(err, semel.ErrStoreFull):
		return "full"
	case errors.Is(err, semel.ErrNoReply):
		return "no reply"
	case errors.Is(err, semel.ErrStoreUnavailable):
		return "unavailable"
	}
	return "other"
}
