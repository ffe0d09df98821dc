package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/reason"
	"github.com/semel-go/semel/semelhttp"
)

// cutAnswer is the code of an answer that ended in its middle.
const cutAnswer = "answer-cut"

const retryAfter = time.Second

// judge says what the end of a round trip means for the record.
//
//	nothing was written        502 upstream-unreachable   released
//	written, no whole answer   504 upstream-no-answer     hold: in doubt, retry: released
//	answer 502 or 504          passed on as it came       hold: in doubt, retry: released
//	any other answer           passed on as it came       semelhttp's rules
type judge struct {
	hold     bool
	name     string // of the route
	maxBody  int64
	failures func(code string) // is told each failure
	log      *slog.Logger
}

// answered is ReverseProxy's ModifyResponse.
func (j *judge) answered(res *http.Response) error {
	r := res.Request
	if res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusGatewayTimeout {
		j.silent(r.Context(), fmt.Errorf("the upstream answered %d for a service behind it", res.StatusCode))
	}
	if !isGuarded(r) {
		return nil
	}
	return j.whole(res)
}

// failed is ReverseProxy's ErrorHandler.
func (j *judge) failed(w http.ResponseWriter, r *http.Request, err error) {
	guarded := isGuarded(r)
	if !guarded && r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client is gone; returning would answer 200
	}
	code := j.decide(r.Context(), err)
	j.failures(string(code))
	j.log.Warn("the upstream failed", j.about(r, string(code), err)...)
	semelhttp.WriteProblem(w, j.problem(code, guarded))
}

// problem is the answer to a failed round trip. Sending it again is safe where
// the record was released.
func (j *judge) problem(code semelhttp.Code, guarded bool) semelhttp.Problem {
	p := semelhttp.NewProblem(code)
	if code == semelhttp.CodeUpstreamNoAnswer && guarded && !j.hold {
		p.Retry, p.RetryAfter = semelhttp.RetrySameKey, retryAfter
	}
	return p
}

// decide judges a failed round trip and returns its code. Whoever cannot say
// that nothing was written has to assume that everything was.
func (j *judge) decide(ctx context.Context, err error) semelhttp.Code {
	if s, ok := errors.AsType[*silence](err); ok && !s.written {
		semelhttp.Decide(ctx, semel.Retryable(err))
		return semelhttp.CodeUpstreamUnreachable
	}
	j.silent(ctx, err)
	return semelhttp.CodeUpstreamNoAnswer
}

// silent leaves the record of a request without an answer in doubt, or releases
// it. It does nothing for requests that are not guarded.
func (j *judge) silent(ctx context.Context, err error) {
	if j.hold {
		semelhttp.Decide(ctx, semel.InDoubt(err))
		return
	}
	semelhttp.Decide(ctx, semel.Retryable(err))
}

// cut judges an answer that ended in its middle after a part of it went out.
// ReverseProxy then aborts the exchange, so that the client sees the cut.
func (j *judge) cut(r *http.Request, err error) {
	j.failures(cutAnswer)
	j.log.Warn("the upstream's answer was cut", j.about(r, cutAnswer, err)...)
	j.silent(r.Context(), err)
}

// about says what a failure was about. The fence leads from this line to the one that
// names the record.
func (j *judge) about(r *http.Request, code string, err error) []any {
	attrs := []any{"code", code, "operation", label(r, j.name), "guarded", isGuarded(r)}
	if run, ok := semel.RunFrom(r.Context()); ok {
		attrs = append(attrs, "record", run.ID().String(), "fence", int64(run.Fence()))
	}
	return append(attrs, "error", reason.Of(err))
}
