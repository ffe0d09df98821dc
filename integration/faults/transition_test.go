package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
)

const (
	lease     = time.Hour
	retention = 24 * time.Hour
)

// record is a key with two callers who want it.
type record struct {
	key         semel.KeyID
	mine, other semel.Token
	fence       semel.Fence // as prepared
}

func newRecord() *record {
	return &record{key: semel.KeyID(semel.NewToken()), mine: semel.NewToken(), other: semel.NewToken()}
}

// transition is a call of a store in the situation that it is for.
type transition struct {
	name    string
	prepare func(*preparation)
	call    func(ctx context.Context, s backends.Store, r *record) (string, error)
	// want is what the caller is told, however often he asks.
	want string
	// done says that the call was executed; nil for calls that change nothing.
	done func(*line, *record) bool
}

// preparation brings a record into its situation, over a connection without faults.
type preparation struct {
	*testing.T
	*record
	handle *backends.Handle
}

func (p *preparation) claim(token semel.Token) {
	p.Helper()
	res, err := p.handle.Store.Claim(p.Context(), claimBy(p.record, token))
	if err != nil || res.Outcome != semel.ClaimAcquired {
		p.Fatalf("claim: %v, %v", res.Outcome, err)
	}
	p.fence = res.Record.Fence
}

func (p *preparation) finish(token semel.Token, state semel.State) {
	p.Helper()
	if _, err := p.handle.Store.Finish(p.Context(), finishBy(p.record, token, state)); err != nil {
		p.Fatalf("finish: %v", err)
	}
}

func (p *preparation) lapse() { p.pass(2*lease, false) }

func (p *preparation) expire() { p.pass(2*retention, true) }

func (p *preparation) pass(d time.Duration, expiry bool) {
	p.Helper()
	if err := p.handle.Pass(p.Context(), d, expiry, p.key); err != nil {
		p.Fatal(err)
	}
}

func claimBy(r *record, token semel.Token) semel.ClaimParams {
	return semel.ClaimParams{
		Key: r.key, Token: token, Policy: semel.AtLeastOnce, Lease: lease, Retention: retention, Operation: "charge",
	}
}

func finishBy(r *record, token semel.Token, state semel.State) semel.FinishParams {
	p := semel.FinishParams{Key: r.key, Token: token, State: state, Retention: retention}
	switch state {
	case semel.StateDone:
		p.Result = semel.StoredResult{Kind: semel.ResultValue, Data: []byte("result")}
	case semel.StateInDoubt:
		p.Cause = semel.CauseHandler
	}
	return p
}

func transitions() []transition {
	running := func(attempt int) func(*line, *record) bool {
		return reads(func(r semel.Record) bool { return r.State == semel.StateRunning && r.Attempt == attempt })
	}
	is := func(state semel.State) func(*line, *record) bool {
		return reads(func(r semel.Record) bool { return r.State == state })
	}
	nothing := func(*preparation) {}
	mine := func(p *preparation) { p.claim(p.mine) }
	doubtful := func(p *preparation) { p.claim(p.other); p.finish(p.other, semel.StateInDoubt) }
	overtaken := func(p *preparation) { p.claim(p.mine); p.lapse(); p.claim(p.other) }
	return []transition{
		{"claim a new key", nothing, claim(semel.ClaimParams{}), "acquired, attempt 1", running(1)},
		{"claim a released key", func(p *preparation) { p.claim(p.other); p.finish(p.other, semel.StateReleased) }, claim(semel.ClaimParams{}), "acquired, attempt 2", running(2)},
		{"claim a lapsed key", func(p *preparation) { p.claim(p.other); p.lapse() }, claim(semel.ClaimParams{}), "acquired, attempt 2", running(2)},
		{"claim a key in doubt, to recover", doubtful, claim(semel.ClaimParams{Recovering: true}), "acquired, attempt 2", running(2)},
		{"claim a key that runs elsewhere", func(p *preparation) { p.claim(p.other) }, claim(semel.ClaimParams{}), "running, attempt 1", nil},
		{"claim a key that is done", func(p *preparation) { p.claim(p.other); p.finish(p.other, semel.StateDone) }, claim(semel.ClaimParams{}), "done, attempt 1", nil},
		{"renew", mine, renew, "renewed", reads(func(r semel.Record) bool { return r.Policy == semel.AtMostOnce })},
		{"renew what another one owns", overtaken, renew, "fenced", nil},
		{"finish done", mine, finish(semel.StateDone), "finished", is(semel.StateDone)},
		{"finish released", mine, finish(semel.StateReleased), "finished", is(semel.StateReleased)},
		{"finish in doubt", mine, finish(semel.StateInDoubt), "finished", is(semel.StateInDoubt)},
		{"finish what another one owns", overtaken, finish(semel.StateDone), "fenced", nil},
		{"checkpoint", mine, checkpoint, "kept", reads(func(r semel.Record) bool { return string(r.Checkpoint) == "half-way" })},
		{"resolve: it happened", doubtful, resolve(semel.ResolveDone), "resolved", is(semel.StateDone)},
		{"resolve: it did not happen", doubtful, resolve(semel.ResolveDidNotHappen), "resolved", is(semel.StateReleased)},
		{"resolve: delete", doubtful, resolve(semel.ResolveDelete), "resolved", is(semel.StateNone)},
		{"purge", func(p *preparation) { p.claim(p.other); p.finish(p.other, semel.StateReleased); p.expire() }, purge, "purged", (*line).purged},
		{"read", mine, read, "running, attempt 1", nil},
	}
}

func reads(as func(semel.Record) bool) func(*line, *record) bool {
	return func(l *line, r *record) bool { return as(l.record(r.key)) }
}

func claim(with semel.ClaimParams) func(context.Context, backends.Store, *record) (string, error) {
	return func(ctx context.Context, s backends.Store, r *record) (string, error) {
		p := claimBy(r, r.mine)
		p.Recovering = with.Recovering
		res, err := s.Claim(ctx, p)
		return fmt.Sprintf("%v, attempt %d", res.Outcome, res.Record.Attempt), err
	}
}

func renew(ctx context.Context, s backends.Store, r *record) (string, error) {
	_, err := s.Renew(ctx, semel.RenewParams{Key: r.key, Token: r.mine, Lease: lease, Policy: semel.AtMostOnce})
	return fencedOr("renewed", err)
}

func finish(state semel.State) func(context.Context, backends.Store, *record) (string, error) {
	return func(ctx context.Context, s backends.Store, r *record) (string, error) {
		_, err := s.Finish(ctx, finishBy(r, r.mine, state))
		return fencedOr("finished", err)
	}
}

func checkpoint(ctx context.Context, s backends.Store, r *record) (string, error) {
	_, err := s.Checkpoint(ctx, semel.CheckpointParams{Key: r.key, Token: r.mine, Data: []byte("half-way")})
	return fencedOr("kept", err)
}

func resolve(what semel.Resolution) func(context.Context, backends.Store, *record) (string, error) {
	return func(ctx context.Context, s backends.Store, r *record) (string, error) {
		res, err := s.Resolve(ctx, semel.ResolveParams{Key: r.key, Token: r.mine, Fence: r.fence, Resolution: what, Retention: retention})
		if !res.Resolved {
			return res.Record.State.String(), err
		}
		return "resolved", err
	}
}

func purge(ctx context.Context, s backends.Store, _ *record) (string, error) {
	_, err := s.Purge(ctx, semel.PurgeParams{Limit: 1000})
	return "purged", err
}

func read(ctx context.Context, s backends.Store, r *record) (string, error) {
	rec, err := s.Read(ctx, semel.ReadParams{Key: r.key})
	return fmt.Sprintf("%v, attempt %d", rec.State, rec.Attempt), err
}

func fencedOr(done string, err error) (string, error) {
	if errors.Is(err, semel.ErrFenced) {
		return "fenced", nil
	}
	return done, err
}
