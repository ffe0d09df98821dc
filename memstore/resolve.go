package memstore

import "github.com/semel-go/semel"

// resolve is [semel.Store.Resolve]: a compare-and-set on the fence. Whoever
// decided owns the record from then on, so that a late owner is fenced.
func resolve(r record, now instant, p *semel.ResolveParams) (after record, resolved bool) {
	at := r.standing(now)
	switch {
	case at == absent:
		return r, p.Resolution == semel.ResolveDelete
	case r.ownedBy(p.Token) && r.state == p.Resolution.StateAfter():
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
