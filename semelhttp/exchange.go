package semelhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/semel-go/semel"
)

// exchange is one guarded request. It is one allocation for all that must not be
// shared with later requests: context, writer and body may outlive the handler.
type exchange struct {
	m      *middleware
	w      http.ResponseWriter
	r      *http.Request
	key    sentKey
	memory *scratch
	cancel context.CancelFunc // of the kept deadline; may be nil

	client  detached
	claim   *semel.Run
	settled bool // Finish was called
	request *http.Request
	ctx     guard
	body    requestBody
	out     capture
}

// readBody reads the body whole. A body that does not arrive makes no claim.
func (x *exchange) readBody() (Problem, bool) {
	limit := x.m.opts.MaxRequestBody
	x.body.pool, x.body.budget = x.m.blocks, x.m.opts.BodyBudget
	if x.r.ContentLength > limit {
		return NewProblem(CodePayloadTooLarge), false
	}
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return Problem{}, true
	}
	err := x.body.fill(x.r.Body, limit)
	_, outerLimit := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		return Problem{}, true
	case err == errTooLarge || outerLimit:
		return NewProblem(CodePayloadTooLarge), false
	case err == errOverloaded:
		return NewProblem(CodeOverloaded), false
	}
	return NewProblem(CodeIncompleteBody), false
}

// begin claims the record of the request.
func (x *exchange) begin(principal string) (*semel.Run, *semel.Record, error) {
	o, route := &x.m.opts, ""
	if o.PerRoute != nil {
		route = o.PerRoute(x.r)
	}
	op := semel.Op{
		Key:    KeyFor(principal, route, x.key.text),
		Input:  x.memory.identity.identify(x.r, route, &x.body),
		Policy: o.Policy, Lease: o.Lease, Retention: o.Retention, Wait: o.Wait,
		Label: x.label(),
	}
	x.out.key = op.Key.ID()
	ctx := x.detached()
	if o.Wait <= 0 {
		return x.m.engine.Begin(ctx, op)
	}
	return x.beginWaiting(ctx, op)
}

// beginWaiting stops waiting when the client goes.
func (x *exchange) beginWaiting(ctx context.Context, op semel.Op) (*semel.Run, *semel.Record, error) {
	ctx, cancel := context.WithCancel(ctx)
	x.onClose(cancel)
	stop := context.AfterFunc(x.r.Context(), cancel)
	run, rec, err := x.m.engine.Begin(ctx, op)
	if !stop() && run != nil { // the claim came in the moment in which the client went: nothing has begun
		_, _ = run.Finish(semel.Verdict{State: semel.StateReleased}) // an error means that it is released already
		return nil, nil, context.Cause(x.r.Context())
	}
	return run, rec, err
}

// detached is the request's context without the client's cancellation: what
// has begun goes on. A deadline that an outer layer set is kept.
func (x *exchange) detached() context.Context {
	x.client.Context = x.r.Context()
	deadline, ok := x.client.Context.Deadline()
	if !ok {
		return &x.client
	}
	ctx, cancel := context.WithDeadline(&x.client, deadline)
	x.onClose(cancel)
	return ctx
}

func (x *exchange) onClose(cancel context.CancelFunc) {
	inner := x.cancel
	x.cancel = func() {
		cancel()
		if inner != nil {
			inner()
		}
	}
}

func (x *exchange) label() string {
	switch {
	case x.m.opts.Route != nil:
		return x.m.opts.Route(x.r)
	case x.r.Pattern != "":
		return x.r.Pattern
	}
	return x.r.Method
}

// run lets the handler work and answers. A panic or runtime.Goexit passes through
// as it is: nothing is recovered here, close only settles the record.
func (x *exchange) run(claim *semel.Run, next http.Handler) {
	x.claim = claim
	x.out.begin(x.m, claim, x.w, x.memory)
	x.ctx.Context = claim.Context()
	x.request = x.r.WithContext(&x.ctx)
	if len(x.body.blocks) > 0 {
		x.request.Body = &x.body
	}
	next.ServeHTTP(&x.out, x.request)
	x.finish()
}

// finish saves the outcome, then sends the answer if it is not on its way.
func (x *exchange) finish() {
	c := &x.out
	c.close()
	verdict := semel.Verdict{State: x.ctx.decided()}
	if verdict.State == semel.StateNone {
		verdict.State = x.m.stateOf(c.status)
	}
	if verdict.State == semel.StateDone {
		verdict.Result = c.result()
	}
	x.settled = true
	winner, err := x.claim.Finish(verdict)
	switch {
	case err == nil && !c.fenced:
		c.sendHeld()
	case c.unsent():
		x.answerFenced(winner)
	default:
		c.warn("semelhttp: an answer was streamed whose run does not count")
	}
}

// answerFenced answers for a run that lost its record: with the winner's
// response, never with its own.
func (x *exchange) answerFenced(winner *semel.Record) {
	x.memory.entry.restore(x.w.Header())
	if winner != nil {
		x.m.replay(x.w, x.r, winner, x.key)
		return
	}
	x.m.refuse(x.w, NewProblem(CodeInProgress))
}

// close settles the record of a handler that did not return, and gives back what
// the request held.
func (x *exchange) close() {
	if x.claim != nil && !x.settled {
		x.abandon()
	}
	if x.cancel != nil {
		x.cancel()
	}
	x.body.release()
	if x.request != nil {
		x.adopt()
	}
	x.memory.release(&x.m.scratches)
}

// abandon ends a run whose handler panicked or exited. What it had said is not
// sent, so its header must not decorate what a recovery layer says instead.
func (x *exchange) abandon() {
	c := &x.out
	said := c.abandon()
	_, _ = x.claim.Finish(x.claim.Failed()) // there is nobody to answer with a winner's response
	if said && c.unsent() {
		x.memory.entry.restore(x.w.Header())
	}
}

// adopt hands on to the outer request what the inner one learned: the matched
// pattern, for outer layers, and the files of a parsed form, for the server to
// remove.
func (x *exchange) adopt() {
	if x.r.Pattern == "" {
		x.r.Pattern = x.request.Pattern
	}
	if x.r.MultipartForm == nil {
		x.r.MultipartForm = x.request.MultipartForm
	}
}

// detached is [context.WithoutCancel] as a part of the exchange.
type detached struct{ context.Context }

func (*detached) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*detached) Done() <-chan struct{}       { return nil }
func (*detached) Err() error                  { return nil }
