package linear

import "github.com/semel-go/semel"

// register is the record of one key, without times: docs/stores-protocol.md as a
// function from one call to the next. It knows of a fence only what callers saw.
type register struct {
	state    semel.State
	policy   semel.Policy
	token    semel.Token
	attempt  int
	lapsed   bool // running: the lease is over
	recovery bool // running: of a doubt
	other    bool // which of two fingerprints it has
	result   string
	fence    semel.Fence // 0: nobody has seen it yet
	floor    semel.Fence // it is above this
}

// step is what the call does to the record, and what its caller is told.
func (r register) step(c call) (register, reply) {
	switch c.kind {
	case claim:
		return r.claim(c)
	case renew:
		return r.renew(c)
	case finish:
		return r.finish(c)
	case resolve:
		return r.resolve(c)
	case lapse:
		r.lapsed = r.state == semel.StateRunning
		return r, reply{}
	}
	return r, reply{seen: r.view()}
}

// saw takes a fence that a caller was shown. It is false when that fence cannot be.
func (r register) saw(fence semel.Fence) (register, bool) {
	if r.fence != 0 {
		return r, fence == r.fence
	}
	r.fence = fence
	return r, fence > r.floor
}

// view is the record as a caller sees it; the fence is left to saw.
func (r register) view() view {
	if r.state == semel.StateNone {
		return view{}
	}
	v := view{state: r.state, policy: r.policy, attempt: r.attempt, lapsed: r.lapsed, result: r.result}
	if r.doubtful() {
		v.state, v.lapsed = semel.StateInDoubt, false
	}
	return v
}

// doubtful is in doubt, also by a lapse that is written nowhere.
func (r register) doubtful() bool {
	return r.state == semel.StateInDoubt || r.lapsed && r.policy == semel.AtMostOnce
}

func (r register) mine(c call) bool { return r.state != semel.StateNone && r.token == c.token }

func (r register) claim(c call) (register, reply) {
	switch {
	case r.state == semel.StateNone:
		r.other = c.other
		return r.acquired(c)
	case r.other != c.other:
		return r, reply{outcome: semel.ClaimMismatch}
	case r.state == semel.StateRunning && r.mine(c):
		r.lapsed = false
		return r.told(c, semel.ClaimAcquired)
	case r.state == semel.StateDone:
		return r.told(c, semel.ClaimDone)
	case r.doubtful() && c.recovering:
		c.policy = semel.AtMostOnce
		after, say := r.acquired(c)
		after.recovery = after.state == semel.StateRunning
		return after, say
	case r.doubtful():
		return r.told(c, semel.ClaimInDoubt)
	case r.state == semel.StateRunning && !r.lapsed:
		return r.told(c, semel.ClaimRunning)
	case c.maxAttempts > 0 && r.attempt >= c.maxAttempts:
		return r.spent().told(c, semel.ClaimInDoubt)
	}
	return r.acquired(c)
}

func (r register) told(c call, o semel.Outcome) (register, reply) {
	return r, reply{outcome: o, mine: r.mine(c), seen: r.view()}
}

// acquired is the record of a new run.
func (r register) acquired(c call) (register, reply) {
	r = r.raised()
	r.state, r.policy, r.token = semel.StateRunning, c.policy, c.token
	r.attempt++
	r.lapsed, r.recovery, r.result = false, false, ""
	if c.mark {
		r.state = semel.StateDone
	}
	return r.told(c, semel.ClaimAcquired)
}

// spent has no attempts left. Whoever released it has had his say.
func (r register) spent() register {
	if r.state == semel.StateReleased {
		r.token = semel.Token{}
	}
	return r.ended(semel.StateInDoubt)
}

// raised has a fence that is higher than the one before, and that nobody has seen.
func (r register) raised() register {
	if r.state != semel.StateNone {
		r.floor = max(r.fence, r.floor+1)
	}
	r.fence = 0
	return r
}

func (r register) ended(state semel.State) register {
	r.state, r.lapsed, r.recovery = state, false, false
	return r
}

func (r register) renew(c call) (register, reply) {
	if !r.mine(c) || r.state != semel.StateRunning {
		return r, reply{fenced: true}
	}
	r.lapsed = false
	r.policy = max(r.policy, c.policy)
	return r, reply{}
}

func (r register) finish(c call) (register, reply) {
	switch {
	case !r.mine(c):
		return r, reply{fenced: true}
	case r.state == semel.StateDone || r.state == semel.StateReleased:
		return r, reply{fenced: r.state != c.state}
	case c.unrun && (r.recovery || r.state == semel.StateInDoubt):
		return r.ended(semel.StateInDoubt), reply{}
	}
	if c.state == semel.StateDone {
		r.result = c.result
	}
	return r.ended(c.state), reply{}
}

func (r register) resolve(c call) (register, reply) {
	after := c.resolution.StateAfter()
	switch {
	case r.state == semel.StateNone:
		return r, reply{resolved: after == semel.StateNone}
	case r.mine(c) && r.state == after:
		return r, reply{resolved: true}
	case c.fence == 0, r.fence != c.fence, // one that nobody has seen is not c's either
		r.state == semel.StateRunning && !r.lapsed,
		r.state == semel.StateDone && after != semel.StateNone:
		return r, reply{seen: r.view()}
	}
	r = r.raised().ended(after)
	r.token, r.result = c.token, ""
	switch after {
	case semel.StateDone:
		r.result = c.result
	case semel.StateReleased:
		r.attempt = 0
	default:
		return register{floor: r.floor}, reply{resolved: true}
	}
	return r, reply{resolved: true}
}
