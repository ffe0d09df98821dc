package linear

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// No lease runs out by itself: a run ends them by a lapse.
const (
	lease     = time.Hour
	retention = semel.Forever
)

// kind is what a call asks for.
type kind uint8

const (
	claim kind = iota
	renew
	finish
	read
	resolve
	lapse // of the lease, if there is one: time going by
)

func (k kind) String() string {
	return [...]string{"claim", "renew", "finish", "read", "resolve", "lapse"}[k]
}

// call is one call of a store; which fields count depends on its kind.
type call struct {
	kind  kind
	token semel.Token

	policy      semel.Policy // claim, renew
	recovering  bool         // claim
	mark        bool         // claim
	other       bool         // claim: with another fingerprint
	maxAttempts int          // claim

	state  semel.State // finish
	unrun  bool        // finish
	result string      // finish, resolve

	fence      semel.Fence // resolve
	resolution semel.Resolution
}

// reply is what the caller is told.
type reply struct {
	outcome  semel.Outcome
	mine     bool
	resolved bool
	fenced   bool
	seen     view // of the record, if the reply carries one
}

// view is a record as a caller sees it, without times.
type view struct {
	state   semel.State
	policy  semel.Policy
	fence   semel.Fence
	attempt int
	lapsed  bool
	result  string
}

func viewOf(r semel.Record) view {
	if r.State == semel.StateNone {
		return view{}
	}
	return view{
		state: r.State, policy: r.Policy, fence: r.Fence, attempt: r.Attempt,
		lapsed: r.State == semel.StateRunning && r.LeaseLeft <= 0,
		result: string(r.Result.Data),
	}
}

// on makes the call. An error says that it was not executed, or that nobody knows.
func (c call) on(ctx context.Context, s semel.Store, key semel.KeyID) (reply, error) {
	switch c.kind {
	case claim:
		res, err := s.Claim(ctx, c.claim(key))
		return reply{outcome: res.Outcome, mine: res.Mine, seen: viewOf(res.Record)}, err
	case renew:
		_, err := s.Renew(ctx, semel.RenewParams{Key: key, Token: c.token, Lease: lease, Policy: c.policy})
		return fencedOr(err)
	case finish:
		_, err := s.Finish(ctx, c.finish(key))
		return fencedOr(err)
	case resolve:
		res, err := s.Resolve(ctx, semel.ResolveParams{
			Key: key, Token: c.token, Fence: c.fence, Resolution: c.resolution, Result: stored(c.result), Retention: retention,
		})
		if res.Resolved {
			return reply{resolved: true}, err
		}
		return reply{seen: viewOf(res.Record)}, err
	}
	r, err := s.Read(ctx, semel.ReadParams{Key: key})
	return reply{seen: viewOf(r)}, err
}

func (c call) claim(key semel.KeyID) semel.ClaimParams {
	p := semel.ClaimParams{
		Key: key, Token: c.token, Policy: c.policy, Lease: lease, Retention: retention,
		MaxAttempts: c.maxAttempts, Mark: c.mark, Recovering: c.recovering, Operation: "charge",
	}
	if c.other {
		p.Fingerprint[0] = 1
	}
	return p
}

func (c call) finish(key semel.KeyID) semel.FinishParams {
	p := semel.FinishParams{Key: key, Token: c.token, State: c.state, Unrun: c.unrun, Retention: retention}
	switch c.state {
	case semel.StateDone:
		p.Result = stored(c.result)
	case semel.StateInDoubt:
		p.Cause = semel.CauseHandler
	}
	return p
}

func stored(result string) semel.StoredResult {
	return semel.StoredResult{Kind: semel.ResultValue, Data: []byte(result)}
}

func fencedOr(err error) (reply, error) {
	if errors.Is(err, semel.ErrFenced) {
		return reply{fenced: true}, nil
	}
	return reply{}, err
}

func (c call) String() string {
	s := fmt.Sprintf("%v by %x", c.kind, c.token[:2])
	switch c.kind {
	case claim:
		return s + fmt.Sprintf(" policy=%v%s%s%s max=%d", c.policy, flag(" recovering", c.recovering), flag(" mark", c.mark), flag(" other", c.other), c.maxAttempts)
	case renew:
		return s + fmt.Sprintf(" policy=%v", c.policy)
	case finish:
		return s + fmt.Sprintf(" %v%s %q", c.state, flag(" unrun", c.unrun), c.result)
	case resolve:
		return s + fmt.Sprintf(" %v of fence %d %q", c.resolution, c.fence, c.result)
	}
	return c.kind.String()
}

func (r reply) String() string {
	s := ""
	if r.outcome != 0 {
		s = r.outcome.String()
	}
	s += flag(" mine", r.mine) + flag(" resolved", r.resolved) + flag(" fenced", r.fenced)
	if v := r.seen; v.state != semel.StateNone {
		s += fmt.Sprintf(" (%v%s, %v, fence %d, attempt %d, %q)", v.state, flag(" lapsed", v.lapsed), v.policy, v.fence, v.attempt, v.result)
	}
	return s
}

func flag(name string, on bool) string {
	if on {
		return name
	}
	return ""
}
