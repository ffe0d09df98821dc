package semelhttp

import (
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// DerivedKey makes the key of a request that brings none of its principal, method
// and path (or route), query and body, as the fingerprint has them: for clients that
// cannot send a key. Two requests that mean to be two and say the same are one within
// the window; so it is for routes where that is right, and never on by itself.
//
// The window begins with the first request and has a fixed length: a duplicate does
// not prolong it. Where the first takes longer than half of it, it ends a window
// after its answer, so that an answer that was long in coming is still told apart. An
// outcome in doubt has no end: under AtMostOnce it refuses the content until it is
// resolved. A changed fingerprint rule makes other keys.
//
// The id of a derived record is a plain digest of the request, whatever the engine's
// secret.
type DerivedKey struct {
	// Window is for how long the same request is a duplicate: 2s or more. A claim is
	// held for the half of it where the lease is not below it.
	Window time.Duration
	// Reject refuses a duplicate with 409 duplicate-content. Default false: it is
	// answered with the recorded answer. In both cases one that comes while the first
	// is running waits, or is told in-progress.
	Reject bool
}

const minWindow = 2 * time.Second

// derivedOp are the settings of operations under derived keys.
func derivedOp(e *semel.Engine, op semel.Op, d *DerivedKey) (semel.Op, error) {
	err := checkWindow(d)
	op.Retention = d.Window
	if err != nil || e.Check(op) == nil {
		return op, err
	}
	op.Lease = d.Window / 2
	if err := e.Check(op); err != nil {
		return op, fmt.Errorf("semelhttp: Derived.Window %v: %w", d.Window, err)
	}
	return op, nil
}

func checkWindow(d *DerivedKey) error {
	return refuse(d.Window < minWindow, "Derived.Window %v is below 2s: a claim has to end within it, and is held for 1s or more", d.Window)
}

// derivedKey is the key of a request that brings none. It is made of more than one
// part, which no key that was sent is.
func (x *exchange) derivedKey(scope semel.Scope) semel.Key {
	sum := x.memory.identity.sum()
	return semel.KeyOf(scope, "semel/derived/1", string(sum[:]))
}
