package storetest

import (
	"fmt"

	"github.com/semel-go/semel"
)

// changed checks what the call of a cell made of the record.
func (c cell) changed(before, after semel.Record) string {
	if c.mismatch {
		return difference(before, after)
	}
	switch c.want {
	case fresh, next, recovers:
		return c.changedByRun(before, after)
	case again:
		return c.changedByLease(before, after)
	case succeeds:
		return c.changedByOwner(before, after)
	case decides:
		return c.changedByDecision(before, after)
	case givesUp:
		return changedByGivingUp(before, after)
	case nothing:
		if after.State != semel.StateNone {
			return "there is a record now"
		}
		return ""
	}
	if d := difference(before, after); d != "" {
		return d + " changed"
	}
	return ""
}

func (c cell) changedByRun(before, after semel.Record) string {
	becomes, policy := semel.StateRunning, semel.AtLeastOnce
	if c.mark {
		becomes = semel.StateDone
	}
	attempt := before.Attempt + 1
	if c.want == recovers {
		policy = semel.AtMostOnce
	}
	switch {
	case after.State != becomes:
		return fmt.Sprintf("the record is %v, want %v", after.State, becomes)
	case after.Fence <= before.Fence:
		return "the fence did not grow"
	case after.Attempt != attempt:
		return fmt.Sprintf("attempt %d, want %d", after.Attempt, attempt)
	case after.Policy != policy:
		return fmt.Sprintf("policy %v, want %v", after.Policy, policy)
	case c.mark && after.Result.Kind != semel.ResultMark:
		return fmt.Sprintf("result kind %d, want that of a mark", after.Result.Kind)
	case !c.mark && !near(after.LeaseLeft, lease):
		return fmt.Sprintf("lease %v left, want %v", after.LeaseLeft, lease)
	case !near(after.ExpiresIn, retention):
		return fmt.Sprintf("expires in %v, want %v", after.ExpiresIn, retention)
	case c.want == recovers && (after.Cause != before.Cause || !after.Since.Equal(before.Since)):
		return "a recovery keeps cause and start of the doubt"
	case c.want != recovers && after.Cause != semel.CauseNone:
		return "a run that is no recovery has no cause"
	}
	return ""
}

// changedByLease: a repeated claim, or a renewal, changes nothing but the lease. It
// ends a doubt by lapse, which nobody had written down.
func (c cell) changedByLease(before, after semel.Record) string {
	wasDoubt := before.State == semel.StateInDoubt
	switch {
	case after.State != semel.StateRunning:
		return fmt.Sprintf("the record is %v, want running", after.State)
	case after.Fence != before.Fence || after.Attempt != before.Attempt:
		return "fence or attempt changed"
	case after.Policy != before.Policy:
		return "the policy changed"
	case !near(after.LeaseLeft, lease):
		return fmt.Sprintf("lease %v left, want %v", after.LeaseLeft, lease)
	case !after.StartedAt.Equal(before.StartedAt):
		return "the start changed"
	case wasDoubt && before.Cause == semel.CauseLapse && after.Cause != semel.CauseNone:
		return "a doubt by lapse is over when its owner is back"
	}
	return ""
}

func (c cell) changedByOwner(before, after semel.Record) string {
	if c.becomes == semel.StateRunning {
		return c.changedByLease(before, after)
	}
	switch {
	case after.State != c.becomes:
		return fmt.Sprintf("the record is %v, want %v", after.State, c.becomes)
	case after.Fence != before.Fence || after.Attempt != before.Attempt:
		return "fence or attempt changed"
	case c.becomes == semel.StateDone && string(after.Result.Data) != "second":
		return fmt.Sprintf("the result is %.40q, want the owner's", after.Result.Data)
	}
	return c.doubtProblem(before, after)
}

// doubtProblem: a doubt keeps its first cause and start, and is over otherwise.
func (c cell) doubtProblem(before, after semel.Record) string {
	cause := semel.CauseNone
	if c.becomes == semel.StateInDoubt {
		cause = semel.CauseError
		if before.Cause != semel.CauseNone {
			cause = before.Cause
		}
	}
	switch {
	case after.Cause != cause:
		return fmt.Sprintf("cause %v, want %v", after.Cause, cause)
	case cause == before.Cause && !after.Since.Equal(before.Since):
		return "the start of the doubt changed"
	}
	return ""
}

func (c cell) changedByDecision(before, after semel.Record) string {
	switch {
	case after.State != c.becomes:
		return fmt.Sprintf("the record is %v, want %v", after.State, c.becomes)
	case c.becomes == semel.StateNone:
		return ""
	case after.Fence <= before.Fence:
		return "the fence did not grow"
	case c.becomes == semel.StateDone && string(after.Result.Data) != "resolved":
		return fmt.Sprintf("the result is %.40q, want the operator's", after.Result.Data)
	case !near(after.ExpiresIn, retention):
		return fmt.Sprintf("expires in %v, want %v", after.ExpiresIn, retention)
	}
	return c.doubtProblem(before, after)
}

func changedByGivingUp(before, after semel.Record) string {
	switch {
	case after.State != semel.StateInDoubt || after.Cause != semel.CauseAttempts:
		return "the record is not in doubt by attempts"
	case after.Fence != before.Fence || after.Attempt != before.Attempt:
		return "fence or attempt changed"
	}
	return ""
}
