package semelhttp

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/semel-go/semel"
)

// ObservedReplay is what [Options.OnObserved] is told of a request that would have
// been answered with the recorded answer. It is the code of no problem.
const ObservedReplay Code = "replay"

// maxObserved is how many observations wait for the store at once; beyond it a
// request is not observed, and told as overloaded.
const maxObserved = 1024

// observe lets the handler work as if nothing stood before it, and finds out beside
// it what a guard would have done.
func (x *exchange) observe(next http.Handler, found bool, keyErr error) {
	p := x.admit(found, keyErr)
	switch {
	case p != nil:
		x.m.observed(x.label(), p.Code)
		x.pass(x.w, next)
	case x.from == noKey:
		x.pass(x.w, next)
	default:
		x.watch(next)
	}
}

// watch claims beside the handler, which waits for nothing.
func (x *exchange) watch(next http.Handler) {
	select {
	case x.m.seats <- struct{}{}:
	default:
		x.m.observed(x.label(), CodeOverloaded)
		x.pass(x.w, next)
		return
	}
	o := &observation{m: x.m, op: x.observedOp(), token: x.memory.token, memory: x.memory, principal: x.principal, ended: make(chan semel.Verdict, 1)}
	x.memory = nil // now its own
	go o.claim(context.WithoutCancel(x.r.Context()))
	x.watched(next, o)
}

// watched lets the handler work and says how it ended, also by a panic.
func (x *exchange) watched(next http.Handler, o *observation) {
	out := &headerWriter{ResponseWriter: x.w}
	x.ctx.Context = x.r.Context()
	returned := false
	defer func() { o.ended <- x.observedVerdict(out, o.token, returned) }()
	next.ServeHTTP(out, x.forHandler(&x.ctx))
	out.imply()
	returned = true
}

// observedOp is the operation of the request in the scope of observations. It never
// leaves a doubt for an operator: see observedVerdict.
func (x *exchange) observedOp() semel.Op {
	op := x.op()
	key := op.Key.ID()
	op.Key = semel.KeyOf(semel.Scope{Principal: x.principal, Operation: x.route}, "semel/observe/1", string(key[:]))
	op.Policy, op.Wait = semel.AtLeastOnce, -1
	return op
}

// observedRemark is the name under which a record that was only observed says by which
// code a guard would answer a duplicate.
const observedRemark = "observed"

// observedVerdict is what the record will say: what a guard would have answered.
func (x *exchange) observedVerdict(out *headerWriter, token *heldToken, returned bool) semel.Verdict {
	state := x.ctx.decided()
	switch {
	case state != semel.StateNone:
	case returned:
		state = x.stateOf(out.status)
	case x.m.op.Policy == semel.AtMostOnce:
		state = semel.StateInDoubt
	default:
		state = semel.StateReleased
	}
	would := ObservedReplay
	switch {
	case state == semel.StateReleased:
		return semel.Verdict{State: state}
	case state == semel.StateInDoubt:
		would = CodeOutcomeUnknown
	case x.from == derived && x.m.opts.Derived.Reject:
		would = CodeDuplicateContent
	case out.hijacked || out.written > int64(x.m.opts.MaxResponseBody):
		would = CodeResultUnavailable
	}
	remark := token.remark([]byte(observedRemark + "=" + string(would)))
	return semel.Verdict{State: semel.StateDone, Result: semel.StoredResult{Kind: semel.ResultTombstone, Data: remark}}
}

// observation is a claim that stops nobody.
type observation struct {
	m         *middleware
	op        semel.Op
	token     *heldToken // nil for none
	memory    *scratch   // which op reads until the claim is made
	principal string
	ended     chan semel.Verdict
}

func (o *observation) claim(ctx context.Context) {
	run, rec, err := o.begin(ctx)
	<-o.m.seats
	o.memory.release(&o.m.scratches)
	switch {
	case err != nil:
		o.m.observed(o.op.Label, refusalOf(err).Code)
	case rec != nil:
		o.m.observed(o.op.Label, o.would(rec))
	default:
		_, _ = run.Finish(<-o.ended) // an error means that another observation took over
	}
}

func (o *observation) begin(ctx context.Context) (*semel.Run, *semel.Record, error) {
	if err := o.token.timely(ctx, o.m.settings.Store(), o.op.Key); err != nil {
		return nil, nil, err
	}
	return o.m.claim(ctx, o.principal, o.op)
}

// would is what a guard would answer where there is a record.
func (o *observation) would(rec *semel.Record) Code {
	if o.token.differs(remarked(rec.Result.Data, contentRemark)) {
		return CodeTokenUsed
	}
	return Code(remarked(rec.Result.Data, observedRemark))
}

// observed reports; a callback that panics must not end the process.
func (m *middleware) observed(route string, would Code) {
	if m.opts.OnObserved == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			m.opts.Logger.Error("semelhttp: OnObserved panicked", slog.Any("panic", p))
		}
	}()
	m.opts.OnObserved(route, would)
}
