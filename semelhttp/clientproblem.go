package semelhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What a client may want to tell apart. A [*ProblemError] matches the one that
// belongs to its code; [ProblemError.Code] tells of the rest.
var (
	// ErrInProgress: the first request with this key is still running.
	ErrInProgress = errors.New("semelhttp: the first request with this key is still running; send it again with the same key")
	// ErrOutcomeUnknown: the operation was started, and nobody knows whether it took effect.
	ErrOutcomeUnknown = errors.New("semelhttp: nobody knows whether the operation took effect; a person has to find out")
	// ErrKeyReused: the key was used with another request.
	ErrKeyReused = errors.New("semelhttp: the key was used with another request; use a new key for a new operation")
	// ErrResultUnavailable: the operation was executed and its answer was not kept.
	ErrResultUnavailable = errors.New("semelhttp: the operation was executed and its answer was not kept")
	// ErrDuplicateContent: the same content was sent a short time ago.
	ErrDuplicateContent = errors.New("semelhttp: the same content was sent a short time ago")
	// ErrErased: the records of the caller were erased.
	ErrErased = errors.New("semelhttp: the records of this caller were erased")
	// ErrNotExecuted: the service could not take the request, and nothing was executed.
	ErrNotExecuted = errors.New("semelhttp: the service could not take the request; nothing was executed")
)

// ProblemError is an answer of the layer itself, as a client sees it: the
// operation did not answer, Semel did. docs/problems.md explains the codes.
type ProblemError struct {
	Code   Code
	Status int
	Retry  Retry
	// RetryAfter is how long the server asks to wait, 0 if it did not say.
	RetryAfter time.Duration
	Title      string
	Detail     string
	// OriginalStatus is the status of the answer that was not kept, 0 if not known.
	OriginalStatus int
	// Key is the key that was sent, if a [Transport] sent it. Error does not print it.
	Key string
}

func (e *ProblemError) Error() string {
	return fmt.Sprintf("semelhttp: the server answered %d %s (retry: %s): %s", e.Status, e.Code, e.Retry, e.Detail)
}

// Is reports whether target is the sentinel of the problem's code.
func (e *ProblemError) Is(target error) bool {
	sentinel := sentinelOf(e.Code)
	return sentinel != nil && target == sentinel
}

func sentinelOf(code Code) error {
	switch code {
	case CodeInProgress:
		return ErrInProgress
	case CodeOutcomeUnknown, CodeUpstreamNoAnswer:
		return ErrOutcomeUnknown
	case CodeKeyReused:
		return ErrKeyReused
	case CodeResultUnavailable:
		return ErrResultUnavailable
	case CodeDuplicateContent:
		return ErrDuplicateContent
	case CodeErased:
		return ErrErased
	case CodeOverloaded, CodeStoreUnavailable, CodeUpstreamUnreachable, CodeIncompleteBody:
		return ErrNotExecuted
	}
	return nil
}

// CheckResponse returns a [*ProblemError] if resp is an answer of the layer
// itself, and nil if it is the operation's own answer, whatever its status: a
// service's own 409 or 422 is no problem here. The body of resp can be read as
// before; the caller still closes it.
func CheckResponse(resp *http.Response) error {
	p := problemOf(resp)
	if p == nil {
		return nil
	}
	return p
}

// Replayed reports whether resp is a recorded answer that was sent before. It
// knows the mark Idempotent-Replayed: true of Semel and of the APIs that have it.
func Replayed(resp *http.Response) bool {
	return strings.EqualFold(resp.Header.Get("Idempotent-Replayed"), "true")
}

// problemOf reads the problem that resp is, if it is one. A recorded answer is a
// handler's, whatever it looks like; so is one without the members code and retry.
func problemOf(resp *http.Response) *ProblemError {
	if essence(resp.Header.Get("Content-Type")) != "application/problem+json" || resp.StatusCode < 400 || Replayed(resp) {
		return nil
	}
	var body problemBody
	err := json.Unmarshal(peek(resp, maxProblem), &body)
	if known := err == nil && body.Code != "" && isRetry(body.Retry); !known {
		return nil
	}
	return &ProblemError{
		Code: body.Code, Status: resp.StatusCode, Retry: body.Retry, RetryAfter: retryAfterOf(resp),
		Title: body.Title, Detail: body.Detail, OriginalStatus: body.OriginalStatus, Key: SentKey(resp),
	}
}

// maxProblem is the size in bytes up to which a body is looked at.
const maxProblem = 64 << 10

func isRetry(r Retry) bool {
	return r == RetrySameKey || r == RetryFixRequest || r == RetryNewKey || r == RetryNever
}

// retryAfterOf is the Retry-After of resp in either form of RFC 9110, section
// 10.2.3. A date counts from the server's own Date, so that clocks need not agree.
func retryAfterOf(resp *http.Response) time.Duration {
	value := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil { // it names no time
		now = time.Now()
	}
	return max(at.Sub(now), 0)
}
