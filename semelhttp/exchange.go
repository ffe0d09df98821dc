package semelhttp

import (
	"context"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/semel-go/semel"
)

// exchange is one guarded request. It is one allocation for all that must not be
// shared with later requests: context, writer and body may outlive the handler.
type exchange struct {
	m      *middleware
	w      http.ResponseWriter
	r      *http.Request
	memory *scratch

	key       sentKey
	parts     [1]string // the key's text, where KeyOf finds it without an allocation
	from      origin
	principal string
	route     string // the part of the scope that Options.PerRoute names
	former    []semel.Input

	claim   *semel.Run
	settled bool // Finish was called
	request *http.Request
	ctx     guard
	body    requestBody
	out     capture
}

// begin claims the record of the request.
func (x *exchange) begin() (*semel.Run, *semel.Record, error) {
	op := x.op()
	x.out.key = op.Key.ID()
	ctx := x.r.Context()
	if err := x.memory.token.timely(ctx, x.m.settings.Store(), op.Key); err != nil {
		return nil, nil, err
	}
	run, rec, err := x.m.claim(ctx, x.principal, op)
	if run != nil && ctx.Err() != nil { // the claim came in the moment in which the client went: nothing has begun
		_, _ = run.Finish(semel.Verdict{State: semel.StateReleased}) // an error means that it is released already
		return nil, nil, context.Cause(ctx)
	}
	return run, rec, err
}

// op is the operation that the request asks for.
func (x *exchange) op() semel.Op {
	scope := semel.Scope{Principal: x.principal, Operation: x.route}
	op := x.m.op
	if x.from == derived {
		op = x.m.derivedOp
	}
	op.Input, op.Former, op.Label = x.memory.identity.input(), x.former, x.label()
	switch x.from {
	case issuedToken:
		x.spend(&op)
	case derived:
		op.Key = x.derivedKey(scope)
	default:
		x.parts[0] = x.key.text
		op.Key = semel.KeyOf(scope, x.parts[:]...)
	}
	return op
}

func (x *exchange) label() string {
	switch {
	case x.m.opts.Route != nil:
		return labelOf(x.m.opts.Route(x.r))
	case x.r.Pattern != "":
		return labelOf(x.r.Pattern)
	}
	return x.r.Method
}

// maxLabel is the engine's limit in bytes; see [semel.Op].
const maxLabel = 200

// labelOf makes a label of any text that the engine takes: an over-long pattern must not
// be a reason to refuse requests.
func labelOf(text string) string {
	plain := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text) // what is no UTF-8 becomes U+FFFD
	if len(plain) <= maxLabel {
		return plain
	}
	end := maxLabel
	for !utf8.RuneStart(plain[end]) {
		end--
	}
	return plain[:end]
}

// serve claims, and runs the handler or answers for it.
func (x *exchange) serve(next http.Handler) {
	run, rec, err := x.begin()
	switch {
	case err != nil:
		x.m.refuse(x.w, x.m.refusal(x.r, err))
	case rec != nil:
		x.replay(rec)
	default:
		x.run(run, next)
	}
}

// run lets the handler work and answers. A panic or runtime.Goexit passes through
// as it is: nothing is recovered here, close only settles the record.
func (x *exchange) run(claim *semel.Run, next http.Handler) {
	x.claim = claim
	x.out.begin(x.m, claim, x.w, x.memory)
	x.ctx.Context = claim.Context()
	next.ServeHTTP(&x.out, x.forHandler(&x.ctx))
	x.finish()
}

// pass hands on a request that is not guarded, with the body that was read.
func (x *exchange) pass(w http.ResponseWriter, next http.Handler) {
	if !x.body.touched() {
		next.ServeHTTP(w, x.r)
		return
	}
	next.ServeHTTP(w, x.forHandler(x.r.Context()))
}

// forHandler is the request that the handler gets.
func (x *exchange) forHandler(ctx context.Context) *http.Request {
	x.request = x.r.WithContext(ctx)
	if x.body.touched() {
		x.request.Body = &x.body
	}
	return x.request
}

// finish saves the outcome, then sends the answer if it is not on its way.
func (x *exchange) finish() {
	c := &x.out
	c.close()
	verdict := semel.Verdict{State: x.ctx.decided()}
	if verdict.State == semel.StateNone {
		verdict.State = x.stateOf(c.status)
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
		x.replay(winner)
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
	x.body.release()
	if x.request != nil {
		x.adopt()
	}
	if x.memory != nil {
		x.memory.release(&x.m.scratches)
	}
}

// abandon ends a run whose handler panicked or exited: released or in doubt, if the
// handler decided so before. What it had said is not sent, so its header must not decorate what a recovery layer says instead.
func (x *exchange) abandon() {
	c := &x.out
	said := c.abandon()
	verdict := x.claim.Failed()
	if state := x.ctx.decided(); state == semel.StateReleased || state == semel.StateInDoubt {
		verdict = semel.Verdict{State: state}
	}
	_, _ = x.claim.Finish(verdict) // there is nobody to answer with a winner's response
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
