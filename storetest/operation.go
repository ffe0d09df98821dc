package storetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/semel-go/semel"
)

// operation is one step of a random run, small enough to be drawn from a few
// bytes. Keys, tokens and settings are few, so that steps meet.
type operation struct {
	kind       kind
	key, token int
	byOwner    bool // by whoever acquired the key last, instead of token
	a, b       int  // choose among the settings of the kind
}

type kind uint8

const (
	opClaim kind = iota
	opRecover
	opMark
	opRenew
	opFinish
	opResolve
	opCheckpoint
	opPurge
	opAdvance
)

// kinds is what a random byte draws from: the frequent ones more than once.
func kinds() []kind {
	return []kind{
		opClaim, opClaim, opClaim, opClaim, opClaim, opRecover, opRecover, opMark, opRenew, opRenew,
		opFinish, opFinish, opFinish, opFinish, opResolve, opResolve, opCheckpoint, opPurge, opAdvance, opAdvance, opAdvance,
	}
}

// Keys and tokens of a run. Owners, markers and operators have tokens of their
// own, as they do in life: a token is made for one run or one decision.
const (
	modelKeys    = 3
	ownerTokens  = 4
	markTokens   = 2
	decideTokens = 2
	modelTokens  = ownerTokens + markTokens + decideTokens
)

// Times of random runs: leases and advances are multiples of ten seconds, and no
// half of a retention is, so that a store whose clock really runs has seconds to
// spare at every border.
func modelLeases() []time.Duration { return []time.Duration{time.Minute, 3 * time.Minute} }

// modelRetentions are seldom Forever: what is done forever has nothing more to show.
func modelRetentions() []time.Duration {
	const short, long = 1010 * time.Second, 3610 * time.Second
	return []time.Duration{short, long, short, long, short, long, semel.Forever}
}

func modelAdvances() []time.Duration {
	return []time.Duration{20 * time.Second, 70 * time.Second, 70 * time.Second, 200 * time.Second, 1000 * time.Second, 4000 * time.Second, 4000 * time.Second}
}

func modelFinishes() []semel.FinishParams {
	return []semel.FinishParams{
		{State: semel.StateDone, Result: value("one")},
		{State: semel.StateDone, Result: semel.StoredResult{Kind: semel.ResultTombstone}},
		{State: semel.StateReleased},
		{State: semel.StateReleased, Unrun: true},
		{State: semel.StateInDoubt, Cause: semel.CauseHandler},
		{State: semel.StateInDoubt, Cause: semel.CauseError},
	}
}

func modelResolutions() []semel.Resolution {
	return []semel.Resolution{semel.ResolveDone, semel.ResolveDidNotHappen, semel.ResolveDelete}
}

func pick[E any](from []E, n int) E { return from[n%len(from)] }

// operationBytes is what an operation is drawn from.
const operationBytes = 5

func drawOperation(b [operationBytes]byte) operation {
	op := operation{kind: pick(kinds(), int(b[0])), key: int(b[1]) % modelKeys, a: int(b[3]), b: int(b[4])}
	switch op.kind {
	case opMark:
		op.token = ownerTokens + int(b[2])%markTokens
	case opResolve:
		op.token = ownerTokens + markTokens + int(b[2])%decideTokens
	case opRenew, opFinish, opCheckpoint:
		op.byOwner = b[2] >= 128
		fallthrough
	default:
		op.token = int(b[2]) % ownerTokens
	}
	return op
}

func randomOperations(rng *rand.Rand, n int) []operation {
	ops := make([]operation, n)
	for i := range ops {
		var b [operationBytes]byte
		for j := range b {
			b[j] = byte(rng.Uint32())
		}
		ops[i] = drawOperation(b)
	}
	return ops
}

// claimParams are the settings of a claim; one in four has another fingerprint.
func (op operation) claimParams() semel.ClaimParams {
	p := semel.ClaimParams{
		Fingerprint: fingerprint(1), Policy: semel.AtLeastOnce + semel.Policy(op.a%2),
		Lease: pick(modelLeases(), op.a/2), Retention: pick(modelRetentions(), op.a/4),
		ScopeID: semel.ScopeID{byte(op.token)}, Operation: fmt.Sprint("operation ", op.token), KeyText: fmt.Sprint("text ", op.token),
		Recovering: op.kind == opRecover, Mark: op.kind == opMark,
	}
	if op.b%4 == 0 {
		p.Fingerprint = fingerprint(2)
	}
	if op.kind == opClaim {
		p.MaxAttempts = pick([]int{0, 0, 2, 3}, op.b/4)
	}
	return p
}

func (op operation) finishParams() semel.FinishParams {
	p := pick(modelFinishes(), op.a)
	p.Retention = pick(modelRetentions(), op.b)
	return p
}

// String tells a step of a failing run.
func (op operation) String() string {
	who := fmt.Sprintf("key %d token %d", op.key, op.token)
	if op.byOwner {
		who = fmt.Sprintf("key %d by its owner", op.key)
	}
	switch op.kind {
	case opClaim, opRecover, opMark:
		p := op.claimParams()
		return fmt.Sprintf("claim %s: %v, lease %v, retention %s, fingerprint %d, max attempts %d, recovering %v, mark %v",
			who, p.Policy, p.Lease, expiry(semel.Record{ExpiresIn: p.Retention}), p.Fingerprint[1], p.MaxAttempts, p.Recovering, p.Mark)
	case opRenew:
		return fmt.Sprintf("renew %s: lease %v, policy %v", who, pick(modelLeases(), op.a), semel.Policy(op.b%3))
	case opFinish:
		p := op.finishParams()
		return fmt.Sprintf("finish %s: %v (unrun %v), result %q, cause %v, retention %s", who, p.State, p.Unrun, p.Result.Data, p.Cause, expiry(semel.Record{ExpiresIn: p.Retention}))
	case opResolve:
		return fmt.Sprintf("resolve %s: %v, stale fence %v", who, pick(modelResolutions(), op.a), op.b%4 == 0)
	case opCheckpoint:
		return "checkpoint " + who
	case opPurge:
		return "purge"
	}
	return fmt.Sprintf("advance %v", pick(modelAdvances(), op.a))
}
