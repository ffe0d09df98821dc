package storetest

import (
	"fmt"

	"github.com/semel-go/semel"
)

// brief says what a failure needs to know of a record.
func brief(r semel.Record) string {
	s := r.State.String()
	switch r.State {
	case semel.StateNone:
		return s
	case semel.StateRunning:
		s += fmt.Sprintf("(lease %v)", r.LeaseLeft)
	case semel.StateDone:
		s += fmt.Sprintf("(kind %d, %d bytes %.40q)", r.Result.Kind, len(r.Result.Data), r.Result.Data)
	}
	if r.Cause != semel.CauseNone {
		s += fmt.Sprintf(" cause %v", r.Cause)
	}
	return fmt.Sprintf("%s %v attempt %d fence %d expires in %v", s, r.Policy, r.Attempt, r.Fence, expiry(r))
}

func expiry(r semel.Record) string {
	if r.ExpiresIn == semel.Forever {
		return "forever"
	}
	return r.ExpiresIn.String()
}
