package semelhttp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Code is the stable name of an answer of the layer itself. Programs act on it,
// or on the retry member beside it.
type Code string

// The answers of the layer, in the order of docs/problems.md.
const (
	CodeMissingKey          Code = "missing-key"
	CodeInvalidKey          Code = "invalid-key"
	CodeIncompleteBody      Code = "incomplete-body"
	CodeAmbiguousBody       Code = "ambiguous-body"
	CodeInvalidSignature    Code = "invalid-signature"
	CodeNoPrincipal         Code = "no-principal"
	CodeTokenRefused        Code = "token-refused"
	CodeTokenExpired        Code = "token-expired"
	CodeReplayForbidden     Code = "replay-forbidden"
	CodePayloadTooLarge     Code = "payload-too-large"
	CodeKeyReused           Code = "key-reused"
	CodeTokenUsed           Code = "token-used"
	CodeDuplicateContent    Code = "duplicate-content"
	CodeInProgress          Code = "in-progress"
	CodeOutcomeUnknown      Code = "outcome-unknown"
	CodeResultUnavailable   Code = "result-unavailable"
	CodeErased              Code = "erased"
	CodeOverloaded          Code = "overloaded"
	CodeStoreUnavailable    Code = "store-unavailable"
	CodeUpstreamUnreachable Code = "upstream-unreachable"
	CodeUpstreamNoAnswer    Code = "upstream-no-answer"
)

// Retry tells a program what to do about an answer.
type Retry string

// What a program can do. RetryNever means: not automatically.
const (
	RetrySameKey    Retry = "same-key"    // send the same request again, after Retry-After
	RetryFixRequest Retry = "fix-request" // the request is wrong as it is
	RetryNewKey     Retry = "new-key"     // send it under a new key
	RetryNever      Retry = "never"       // a person has to look
)

// Problem is an answer of the layer itself: problem+json of RFC 9457 with the
// members code, retry and, where known, original_status. It never contains a
// body, a key, a fingerprint or another caller's data; keep it so in Detail.
type Problem struct {
	Code   Code
	Status int
	Title  string
	Detail string
	Retry  Retry
	// RetryAfter is sent in whole seconds, rounded up; 0 sends no Retry-After. It
	// belongs exactly where sending the same request again can change the answer.
	RetryAfter time.Duration
	// OriginalStatus is the status of the first answer, where it is known.
	OriginalStatus int
	// Challenge is sent as WWW-Authenticate. Default none.
	Challenge string
	// Base is the page that explains the problems. Default [DefaultProblemBase].
	Base string
}

// DefaultProblemBase is the page that explains the problems.
const DefaultProblemBase = "https://semel-go.github.io/semel/problems"

// NewProblem returns the problem of code with everything that it usually says;
// an unknown code gives a problem of status 500.
func NewProblem(code Code) Problem {
	p := problemText(code)
	p.Code = code
	if p.Retry == RetrySameKey {
		p.RetryAfter = time.Second
	}
	return p
}

func problemText(code Code) Problem {
	switch code {
	case CodeMissingKey:
		return Problem{Status: 400, Retry: RetryFixRequest, Title: "Idempotency key missing", Detail: "This operation needs a key: send a new UUID in the key header, and the same one again when you retry."}
	case CodeInvalidKey:
		return Problem{Status: 400, Retry: RetryFixRequest, Title: "Idempotency key unusable", Detail: "The key cannot be used."}
	case CodeIncompleteBody:
		return Problem{Status: 400, Retry: RetrySameKey, Title: "Request body incomplete", Detail: "The body ended early, took too long or could not be read. Nothing was executed and the key is unused."}
	case CodeAmbiguousBody:
		return Problem{Status: 400, Retry: RetryFixRequest, Title: "Request body ambiguous", Detail: "The JSON body has two members of the same name in one object (case does not count): send each once. Nothing was executed and the key is unused."}
	case CodeInvalidSignature:
		return Problem{Status: 401, Retry: RetryFixRequest, Title: "Signature invalid", Detail: "The signature does not belong to the request, or there is none. Nothing was executed and the key is unused."}
	case CodeNoPrincipal:
		return Problem{Status: 401, Retry: RetryFixRequest, Title: "Caller unknown", Detail: "A key belongs to a caller: authenticate, then send the request again."}
	case CodeReplayForbidden:
		return Problem{Status: 403, Retry: RetryNever, Title: "Replay refused", Detail: "The operation was executed before; this caller may not see its answer now."}
	case CodePayloadTooLarge:
		return Problem{Status: 413, Retry: RetryFixRequest, Title: "Request body too large", Detail: "The body is larger than this service takes with a key. Nothing was executed and the key is unused."}
	case CodeKeyReused:
		return Problem{Status: 422, Retry: RetryFixRequest, Title: "Idempotency key reused", Detail: "The key was used before with another request. Use a new key for a new operation; send the same request to retry the old one."}
	case CodeDuplicateContent:
		return Problem{Status: 409, Retry: RetryNever, Title: "Duplicate request", Detail: "The same request was sent a short time ago."}
	case CodeErased:
		return Problem{Status: 410, Retry: RetryNever, Title: "Record erased", Detail: "The records of this caller were erased; the operation is not executed again under this key."}
	case CodeUpstreamUnreachable:
		return Problem{Status: 502, Retry: RetrySameKey, Title: "Upstream unreachable", Detail: "The service could not be reached and has received nothing."}
	case CodeUpstreamNoAnswer:
		return Problem{Status: 504, Retry: RetryNever, Title: "Upstream gave no answer", Detail: "The service received the request and did not answer; whether it was executed is not known."}
	}
	return tokenText(code)
}

// tokenText holds the problems that tell of a form token.
func tokenText(code Code) Problem {
	switch code {
	case CodeTokenRefused:
		return Problem{Status: 403, Retry: RetryNewKey, Title: "Form token refused", Detail: "The token is not good for this form and this user. Load the form again. Nothing was executed."}
	case CodeTokenExpired:
		return Problem{Status: 403, Retry: RetryNewKey, Title: "Form token expired", Detail: "The form stood open for too long, and its token has expired. Load the form again. Nothing was executed."}
	case CodeTokenUsed:
		return Problem{Status: 409, Retry: RetryNewKey, Title: "Form token used", Detail: "The form was sent before with another content, and that was executed; this one was not. Load the form again to send another one."}
	}
	return recordText(code)
}

// recordText holds the problems that tell of a record.
func recordText(code Code) Problem {
	switch code {
	case CodeInProgress:
		return Problem{Status: 409, Retry: RetrySameKey, Title: "Operation in progress", Detail: "The first request with this key is still being executed."}
	case CodeOutcomeUnknown:
		return Problem{Status: 409, Retry: RetryNever, Title: "Outcome unknown", Detail: "The operation was started and its outcome is not known. It is not executed again until somebody has found out."}
	case CodeResultUnavailable:
		return Problem{Status: 409, Retry: RetryNever, Title: "Answer not available", Detail: "The operation was executed; its answer was not kept or cannot be read. It is not executed again under this key."}
	case CodeOverloaded:
		return Problem{Status: 503, Retry: RetrySameKey, Title: "Overloaded", Detail: "The service cannot take the request now. Nothing was executed."}
	case CodeStoreUnavailable:
		return Problem{Status: 503, Retry: RetrySameKey, Title: "Store unavailable", Detail: "The service cannot guard the operation now. Nothing was executed."}
	}
	return Problem{Status: 500, Retry: RetryNever, Title: "Unexpected problem", Detail: "The request could not be handled."}
}

// WriteProblem sends p. Headers that w holds already stay, but for those that
// describe a body.
func WriteProblem(w http.ResponseWriter, p Problem) {
	docs := cmp.Or(p.Base, DefaultProblemBase) + "#" + string(p.Code)
	body, err := json.Marshal(problemBody{
		Type: docs, Title: p.Title, Status: p.Status, Detail: p.Detail, Code: p.Code, Retry: p.Retry, OriginalStatus: p.OriginalStatus,
	})
	if err != nil { // strings and numbers always encode
		body = nil
	}
	h := w.Header()
	for _, name := range [...]string{"Content-Encoding", "Etag", "Last-Modified", "Retry-After"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Language", "en")
	h.Set("Cache-Control", "no-store")
	h.Add("Link", "<"+docs+`>; rel="describedby"`)
	if p.RetryAfter > 0 {
		h.Set("Retry-After", retryAfter(p.RetryAfter))
	}
	if p.Challenge != "" {
		h.Set("Www-Authenticate", p.Challenge)
	}
	w.WriteHeader(p.Status)
	w.Write(body)
}

type problemBody struct {
	Type           string `json:"type"`
	Title          string `json:"title"`
	Status         int    `json:"status"`
	Detail         string `json:"detail"`
	Code           Code   `json:"code"`
	Retry          Retry  `json:"retry"`
	OriginalStatus int    `json:"original_status,omitempty"`
}

// retryAfter is d in whole seconds, rounded up, at least one.
func retryAfter(d time.Duration) string {
	return strconv.FormatInt(int64(max((d+time.Second-1)/time.Second, 1)), 10)
}
