package storetest

import (
	"errors"
	"fmt"

	"github.com/semel-go/semel"
)

// answered checks the reply.
func (c cell) answered(r reply) string {
	want := c.outcome()
	switch {
	case c.want == fenced:
		return fencedProblem(r.err)
	case r.err != nil:
		return r.err.Error()
	case r.outcome != want:
		return fmt.Sprintf("answered %v, want %v", r.outcome, want)
	case c.mismatch:
		if r.record.State != semel.StateNone || r.mine {
			return "a mismatch tells the caller about a record that is not his"
		}
		return ""
	case want == semel.ClaimAcquired && !r.mine:
		return "acquired, but not mine"
	case c.want == decides, c.want == nothing:
		if !r.resolved {
			return "not resolved"
		}
	case r.resolved:
		return "resolved; want refused"
	}
	return ""
}

// shown checks that the record in the answer is the one that is stored: losers
// and operators act on it.
func (c cell) shown(r reply, stored semel.Record) string {
	if c.mismatch || r.outcome == 0 && r.record.State == semel.StateNone {
		return ""
	}
	if d := difference(r.record, stored); d != "" {
		return fmt.Sprintf("the answer has the %s of another record than is stored: %s", d, brief(r.record))
	}
	return ""
}

func fencedProblem(err error) string {
	switch {
	case err == nil:
		return "succeeded, want ErrFenced"
	case !errors.Is(err, semel.ErrFenced):
		return fmt.Sprintf("%v, want ErrFenced and no other error", err)
	}
	return ""
}

// outcome is what a claim answers in this cell; 0 for other methods.
func (c cell) outcome() semel.Outcome {
	if c.mismatch {
		return semel.ClaimMismatch
	}
	switch c.want {
	case fresh, next, again, recovers:
		return semel.ClaimAcquired
	case busy:
		return semel.ClaimRunning
	case replays:
		return semel.ClaimDone
	case doubts, givesUp:
		return semel.ClaimInDoubt
	}
	return 0
}

// repeated checks the answer to the same call again. Only a mark answers
// otherwise: it is done, and mine.
func (c cell) repeated(first, second reply) string {
	want := first.outcome
	if c.mark && want == semel.ClaimAcquired {
		want = semel.ClaimDone
	}
	switch {
	case c.want == fenced:
		return fencedProblem(second.err)
	case second.err != nil:
		return second.err.Error()
	case second.outcome != want:
		return fmt.Sprintf("answered %v, want %v", second.outcome, want)
	case second.mine != first.mine:
		return fmt.Sprintf("answered mine %v, want %v as before", second.mine, first.mine)
	case second.resolved != first.resolved:
		return fmt.Sprintf("answered resolved %v, want %v as before", second.resolved, first.resolved)
	}
	return ""
}
