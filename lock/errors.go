package lock

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// Sentinels. Match them with [errors.Is].
var (
	// ErrNotAcquired: somebody else holds the lock. Every [*NotAcquiredError] matches it.
	ErrNotAcquired = errors.New("lock: not acquired")
	// ErrTimeout, in a [*NotAcquiredError]: the wait lasted as long as it may.
	ErrTimeout = errors.New("it was held for as long as the wait may last; raise Options.Wait")
	// ErrTooManyWaiters, in a [*NotAcquiredError]: the process has as many waiting callers
	// as it may have.
	ErrTooManyWaiters = errors.New("too many callers wait for it; raise Config.MaxWaiters or MaxWaitersPerName")

	// errTaken is for callers who do not wait.
	errTaken = errors.New("somebody else holds it")
)

// NotAcquiredError tells a caller that somebody else holds the lock. Whoever gets it owns
// nothing and has nothing to release. It matches [ErrNotAcquired] and its Reason.
type NotAcquiredError struct {
	// Reason is [ErrTimeout], [ErrTooManyWaiters], or the error of a caller who did not wait.
	Reason error
	// Waited is for how long the caller did.
	Waited time.Duration
}

func (e *NotAcquiredError) Error() string {
	return fmt.Sprintf("lock: not acquired after %v: %v", e.Waited.Round(time.Millisecond), e.Reason)
}

// Unwrap returns ErrNotAcquired and the reason.
func (e *NotAcquiredError) Unwrap() []error { return []error{ErrNotAcquired, e.Reason} }

// LostError tells a holder that the lock was not its own until the end: what it did last,
// somebody else may have done at the same time. It matches [semel.ErrLeaseLost] if the
// lease was over before the release (expired), and [semel.ErrFenced] if the store says
// that there is another owner (not owner).
type LostError struct {
	Fence  semel.Fence // of the lost lock
	Reason error
	Err    error // what the function of [Do] returned, if it failed
}

func (e *LostError) Error() string {
	s := fmt.Sprintf("lock: the lock with fence %d was lost before its release: %v", e.Fence, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the reason and Err.
func (e *LostError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Err}
}

// join leaves an error as it is if it is the only one.
func join(first, second error) error {
	if first == nil || second == nil {
		return cmp.Or(first, second)
	}
	return errors.Join(first, second)
}
