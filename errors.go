package semel

import (
	"errors"
	"fmt"
	"time"
)

// Sentinels. Match them with [errors.Is].
var (
	// ErrFenced: another owner has taken over, or the record was finished or
	// resolved; this run's result does not count.
	ErrFenced = errors.New("semel: fenced: this run does not own the record any more")
	// ErrLeaseLost is the cause of a cancelled handler context: the lease could not
	// be renewed in time. It matches [ErrFenced] only when the store said so.
	ErrLeaseLost = errors.New("semel: the lease was not renewed in time")
	// ErrStoreUnavailable: the store did not answer and the work was not run.
	ErrStoreUnavailable = errors.New("semel: the store is unavailable")
	// ErrNoReply: a call got no reply; it may or may not have been executed.
	ErrNoReply = errors.New("semel: no reply from the store; the call may have been executed")
	// ErrStoreFull: the store refuses to forget one record in order to take another.
	ErrStoreFull = errors.New("semel: the store is full; raise its limit or shorten the retention")
	// ErrWaitersFull: too many duplicates wait already; found inside an
	// [*InProgressError] when the limit of the process was met.
	ErrWaitersFull = errors.New("semel: too many callers are waiting")
	// ErrAmbiguousInput: a JSON input has two members of the same name, or of names that
	// differ only in case, and parsers disagree about which one counts.
	ErrAmbiguousInput = errors.New("semel: the JSON input has two members of the same name (case does not count); send each once")
	// ErrUnsupported: the store lacks the optional capability that the call needs.
	ErrUnsupported = errors.New("semel: the store does not support this")
	// ErrClosed: the engine was closed.
	ErrClosed = errors.New("semel: the engine is closed")
)

// InProgressError tells a duplicate that the operation is running elsewhere.
type InProgressError struct {
	// RetryAfter is when asking again makes sense: a whole number of seconds, at
	// least one.
	RetryAfter time.Duration
	// Err is nil, ErrFenced for a run that lost its record to another one, or
	// ErrWaitersFull.
	Err error

	fence Fence         // of the running one, to watch it
	left  time.Duration // of its lease
}

func (e *InProgressError) Error() string {
	s := fmt.Sprintf("semel: the operation is in progress; ask again in %v", e.RetryAfter)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *InProgressError) Unwrap() error { return e.Err }

// MismatchError tells a caller that the key was used with another input. It says
// nothing about that other input.
type MismatchError struct{}

func (*MismatchError) Error() string {
	return "semel: the key was used before with another input; use a new key for a new operation"
}

// InDoubtError tells a caller that the operation was started and that nobody
// knows its outcome. It stays so until a [RecoverFunc] or an operator decides.
type InDoubtError struct {
	Since   time.Time // store clock
	Cause   Cause
	Attempt int
	// Err is what the first caller's handler returned, if this is that caller.
	Err error
}

func (e *InDoubtError) Error() string {
	s := fmt.Sprintf("semel: the outcome of the operation is unknown since %s (%s); resolve it before it can run again",
		e.Since.UTC().Format(time.RFC3339), e.Cause)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *InDoubtError) Unwrap() error { return e.Err }

// ResultUnavailableError tells a duplicate that the operation is done and that
// its result cannot be replayed: it was not kept, or cannot be read.
type ResultUnavailableError struct {
	// Remark is what was kept instead of the result: a short text.
	Remark string
	// Err is why a kept result could not be read.
	Err error
}

func (e *ResultUnavailableError) Error() string {
	s := "semel: the operation is done; its result is not available"
	if e.Remark != "" {
		s += " (" + e.Remark + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *ResultUnavailableError) Unwrap() error { return e.Err }

// RecordFormatError says that a record was written in a format that this version
// cannot read. The operation is not run again; upgrade first.
type RecordFormatError struct {
	Format int // the record's
}

func (e *RecordFormatError) Error() string {
	return fmt.Sprintf("semel: the record has format %d, this version reads up to %d; upgrade Semel here", e.Format, RecordFormatMax)
}

// StoreError is a store call that failed. It matches [ErrStoreUnavailable] and
// whatever the store said, such as [ErrNoReply] or [ErrStoreFull].
type StoreError struct {
	Call string // "claim", "renew", "finish", …
	Err  error
}

func (e *StoreError) Error() string { return "semel: " + e.Call + ": " + e.Err.Error() }

// Unwrap returns ErrStoreUnavailable and the store's error.
func (e *StoreError) Unwrap() []error { return []error{ErrStoreUnavailable, e.Err} }

// FinalError is a failure that is recorded and replayed like a result: the
// operation is over, asking again does not help.
type FinalError struct {
	Code    string `json:"code,omitempty"` // for programs
	Message string `json:"message"`        // for people
	Data    []byte `json:"data,omitempty"` // anything else a caller needs
	Err     error  `json:"-"`              // the original error; only the first caller has it
}

func (e *FinalError) Error() string {
	if e.Code != "" {
		return e.Code + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the original error, for the first caller.
func (e *FinalError) Unwrap() error { return e.Err }

// Final makes err a recorded failure: every later caller gets it as a
// [*FinalError] with the same code, message and data. A *FinalError inside err
// gives code and data. Final(nil) is nil.
func Final(err error) error {
	if err == nil {
		return nil
	}
	fin := &FinalError{Message: err.Error(), Err: err}
	if inner, ok := errors.AsType[*FinalError](err); ok {
		if inner == err {
			return inner
		}
		fin.Code, fin.Data = inner.Code, inner.Data
	}
	return fin
}

// Retryable says that the operation did not take effect: the record is released,
// and the next caller runs it. Retryable(nil) is nil.
func Retryable(err error) error { return wrapVerdict(err, StateReleased) }

// InDoubt says that nobody knows whether the operation took effect: the record
// is in doubt until somebody decides. InDoubt(nil) is nil.
func InDoubt(err error) error { return wrapVerdict(err, StateInDoubt) }

// verdictError carries a handler's verdict on its own failure.
type verdictError struct {
	error
	state State
}

func (e *verdictError) Unwrap() error { return e.error }

// State is what the handler said: StateReleased or StateInDoubt. Layers above the
// engine find it with errors.As.
func (e *verdictError) State() State { return e.state }

func wrapVerdict(err error, s State) error {
	if err == nil {
		return nil
	}
	return &verdictError{error: err, state: s}
}
