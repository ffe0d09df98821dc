package optimistic

import (
	"errors"
	"net/http"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// ProblemBase is the page that explains the problems of this package.
const ProblemBase = "https://semel-go.github.io/semel/optimistic"

// The codes of problems.
const (
	CodeInvalidPrecondition  semelhttp.Code = "invalid-precondition"
	CodePreconditionFailed   semelhttp.Code = "precondition-failed"
	CodePreconditionRequired semelhttp.Code = "precondition-required"
)

// Answer answers a request whose precondition did not hold, and reports whether it did:
// not for nil and errors that are not about preconditions. 412 for
// [ErrPreconditionFailed] and [ErrConflict], and for [ErrMissing] if the request has
// If-Match; 428, 400, and 304 as the errors of this package say. All but 304 are
// problem+json.
//
// Behind Semel's middleware, 400 and 428 leave the key unused, since the request never
// said what it is about: with its precondition put right, it may be sent under the
// same key. 412 is recorded, as the answer to this key.
func Answer(w http.ResponseWriter, r *http.Request, err error) bool {
	code := codeOf(r, err)
	switch {
	case code != "":
		if code != CodePreconditionFailed {
			semelhttp.Decide(r.Context(), semel.Retryable(err))
		}
		semelhttp.WriteProblem(w, problem(code))
	case errors.Is(err, ErrNotModified):
		w.WriteHeader(http.StatusNotModified)
	default:
		return false
	}
	return true
}

func codeOf(r *http.Request, err error) semelhttp.Code {
	switch {
	case errors.Is(err, ErrInvalidPrecondition):
		return CodeInvalidPrecondition
	case errors.Is(err, ErrPreconditionRequired):
		return CodePreconditionRequired
	case errors.Is(err, ErrPreconditionFailed), errors.Is(err, ErrConflict),
		errors.Is(err, ErrMissing) && r.Header.Values("If-Match") != nil:
		return CodePreconditionFailed
	}
	return ""
}

func problem(code semelhttp.Code) semelhttp.Problem {
	p := semelhttp.Problem{Code: code, Base: ProblemBase, Retry: semelhttp.RetryFixRequest}
	switch code {
	case CodePreconditionFailed:
		p.Status, p.Title, p.Retry = http.StatusPreconditionFailed, "Precondition failed", semelhttp.RetryNewKey
		p.Detail = "The resource is not as you have seen it: read it again, and send the change, if it still makes sense, with the new ETag and under a new key. Nothing was changed."
	case CodePreconditionRequired:
		p.Status, p.Title = http.StatusPreconditionRequired, "Precondition required"
		p.Detail = "Say what you have seen: send the ETag of the resource in If-Match, or If-None-Match: * to create it. Nothing was changed."
	case CodeInvalidPrecondition:
		p.Status, p.Title = http.StatusBadRequest, "Precondition unusable"
		p.Detail = `If-Match and If-None-Match take a list of entity tags with their quotes, as "42", or * alone. Nothing was changed.`
	}
	return p
}
