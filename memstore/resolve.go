package memstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

var errNoResolution = errors.New("memstore: unknown resolution; use done, did not happen or delete")

// checkResolve refuses a decision that would be forgotten as soon as it is made:
// the next claim would run.
func checkResolve(p *semel.ResolveParams) error {
	switch {
	case p.Resolution == semel.ResolveDelete:
		return nil
	case stateAfter(p.Resolution) == semel.StateNone:
		return errNoResolution
	case p.Retention < time.Second:
		return fmt.Errorf("memstore: retention %v of a decided record is below 1s: it would be forgotten at once; use 1s or more, or semel.Forever", p.Retention)
	}
	return nil
}

// resolve is [semel.Store.Resolve]: a compare-and-set on the fence. Whoever
// decided owns the record from then on, so that a late owner is fenced.
func resolve(r record, now instant, p *semel.ResolveParams) (after record, resolved bool) {
	at := r.standing(now)
	switch {
	case at == absent:
		return r, p.Resolution == semel.ResolveDelete
	case r.ownedBy(p.Token) && r.state == stateAfter(p.Resolution):
		return r, true // the same decision again
	case r.fence != p.Fence, at == alive:
		return r, false
	case p.Resolution == semel.ResolveDelete:
		return record{fence: r.fence}, true
	case at == done:
		return r, false
	}
	if p.Resolution == semel.ResolveDone {
		r = r.finished(p.Result)
	} else {
		r = r.free()
		r.attempt = 0 // the next claim runs, whatever MaxAttempts says
	}
	r.token = p.Token
	r.fence = nextFence(r.fence, now)
	r.expiresAt = now.add(p.Retention)
	return r, true
}

func stateAfter(res semel.Resolution) semel.State {
	switch res {
	case semel.ResolveDone:
		return semel.StateDone
	case semel.ResolveDidNotHappen:
		return semel.StateReleased
	}
	return semel.StateNone
}
