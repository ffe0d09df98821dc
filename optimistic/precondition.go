package optimistic

import (
	"errors"
	"fmt"
	"net/http"
)

// The answers to preconditions: see [Answer].
var (
	// ErrInvalidPrecondition: If-Match or If-None-Match cannot be read: 400. A condition
	// that is there and unusable never means that there is none.
	ErrInvalidPrecondition = errors.New("optimistic: the precondition cannot be read")
	// ErrPreconditionFailed: the resource is not as the client expects it: 412.
	ErrPreconditionFailed = errors.New("optimistic: the precondition does not hold")
	// ErrPreconditionRequired: the client has to say what it has seen: 428.
	ErrPreconditionRequired = errors.New("optimistic: a precondition is required")
	// ErrNotModified: the client has the current representation: 304.
	ErrNotModified = errors.New("optimistic: not modified")
)

// Preconditions are those of a request, by entity tag: RFC 9110, section 13.1. Dates
// (If-Unmodified-Since, If-Modified-Since) say nothing about versions and are not looked
// at.
type Preconditions struct {
	Match     Condition // If-Match
	NoneMatch Condition // If-None-Match
}

// PreconditionsOf reads the preconditions of a request. Its errors match
// [ErrInvalidPrecondition].
func PreconditionsOf(h http.Header) (p Preconditions, err error) {
	if p.Match, err = conditionOf(h, "If-Match"); err != nil {
		return Preconditions{}, fmt.Errorf("%w: If-Match: %w", ErrInvalidPrecondition, err)
	}
	if p.NoneMatch, err = conditionOf(h, "If-None-Match"); err != nil {
		return Preconditions{}, fmt.Errorf("%w: If-None-Match: %w", ErrInvalidPrecondition, err)
	}
	return p, nil
}

// Check says whether a request may go on, given the current representation, if one
// exists: nil, [ErrPreconditionFailed] or [ErrNotModified]. It goes in the order of RFC
// 9110, section 13.2.2, and belongs behind all that would refuse the request anyway:
// authentication, and behind Semel's middleware, which replays a retry whose
// If-Match is out of date by now.
//
// It compares with what was read before. What closes the gap to the write is to pass the
// version of current to [Exec], not that of the client.
func (p *Preconditions) Check(method string, current ETag, exists bool) error {
	if p.Match.Present && !p.Match.matches(current, exists, StrongMatch) {
		return ErrPreconditionFailed
	}
	if p.NoneMatch.Present && p.NoneMatch.matches(current, exists, WeakMatch) {
		if method == http.MethodGet || method == http.MethodHead {
			return ErrNotModified
		}
		return ErrPreconditionFailed
	}
	return nil
}

// Require returns [ErrPreconditionRequired] unless the client has said what it has
// seen: If-Match, or If-None-Match: * for a resource that it wants to create.
func (p *Preconditions) Require() error {
	if p.Match.Present || p.NoneMatch.Any {
		return nil
	}
	return ErrPreconditionRequired
}

// Required is a middleware that answers 428 to a PUT, PATCH or DELETE that does not say
// what it has seen (RFC 6585, section 3), and 400 to one that says it in a way that
// cannot be read. Comparing is up to the handler.
func Required(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPut, http.MethodPatch, http.MethodDelete:
			p, err := PreconditionsOf(r.Header)
			if err == nil {
				err = p.Require()
			}
			if Answer(w, r, err) {
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
