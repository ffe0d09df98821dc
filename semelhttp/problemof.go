package semelhttp

import (
	"errors"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

// ProblemOf is the problem that tells a client of an error of the engine or of a form
// token, for services that call [semel.Do], [semel.Engine.Begin] or [onetime.Use]
// themselves. It reports false for every other error: what a handler returned, a recorded
// failure, a mistake in the operation, the end of the caller's context. Nothing of the
// error's text is in the problem.
func ProblemOf(err error) (Problem, bool) {
	code := codeOf(err)
	if code == "" {
		return Problem{}, false
	}
	p := NewProblem(code)
	if busy, ok := errors.AsType[*semel.InProgressError](err); ok && code == CodeInProgress {
		p.RetryAfter = max(busy.RetryAfter, time.Second)
	}
	return p, true
}

// codeOf asks first for what may hold the errors of another operation.
func codeOf(err error) Code {
	switch {
	case is[*onetime.ContentChangedError](err):
		return CodeTokenUsed
	case is[*semel.FinalError](err):
		return ""
	case is[*semel.InDoubtError](err):
		return CodeOutcomeUnknown
	case is[*semel.ResultUnavailableError](err), is[*semel.RecordFormatError](err):
		return CodeResultUnavailable
	case is[*semel.MismatchError](err):
		return CodeKeyReused
	case errors.Is(err, onetime.ErrRefused):
		return CodeTokenRefused
	case errors.Is(err, onetime.ErrExpired):
		return CodeTokenExpired
	case errors.Is(err, semel.ErrWaitersFull), errors.Is(err, semel.ErrStoreFull):
		return CodeOverloaded
	case is[*semel.InProgressError](err):
		return CodeInProgress
	case errors.Is(err, semel.ErrAmbiguousInput):
		return CodeAmbiguousBody
	case errors.Is(err, semel.ErrStoreUnavailable), errors.Is(err, semel.ErrClosed):
		return CodeStoreUnavailable
	}
	return ""
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
