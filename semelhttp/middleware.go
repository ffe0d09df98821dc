package semelhttp

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/semel-go/semel"
)

// middleware holds what all requests share.
type middleware struct {
	engine    *semel.Engine // nil in transactional mode
	box       Transactor    // nil but in transactional mode
	settings  settings      // the one of both that there is
	principal PrincipalFunc
	opts      Options
	keys      keyReader
	contents  []contentRule // the one in force, then the former ones
	bodyFirst bool          // the signature or the key cannot be looked for without the body
	passing   bool          // a request without a key in a header is none to guard
	op        semel.Op      // what all operations have in common
	derivedOp semel.Op      // and those under derived keys
	rules     recordRules
	blocks    *blocks
	shares    shares
	scratches sync.Pool
	seats     chan struct{} // of observations
	quotas    *quotas       // nil: no bound

	noStore, isTrue []string // header values of every replay; nobody changes them
}

// settings is what engines and boxes tell of themselves.
type settings interface {
	Check(op semel.Op) error
	Defaults() semel.Op
	Store() semel.Store
}

// New returns the middleware: a request with a key runs its handler once, and is
// answered with the recorded response from then on. Place it behind recovery,
// logging, CORS, rate limits and authentication, and before preconditions and
// the handler.
//
// principal is required: it says whose request it is, [Global] where all callers
// are one. opts may be nil. All mistakes in opts are reported at once.
//
// Source: draft-ietf-httpapi-idempotency-key-header-07.
func New(e *semel.Engine, principal PrincipalFunc, opts *Options) (func(http.Handler) http.Handler, error) {
	m, err := newMiddleware(principal, opts, refuse(e == nil, "the engine is nil; make one with semel.New"))
	if err != nil {
		return nil, err
	}
	m.engine, m.settings = e, e
	if err := errors.Join(m.prepare(), m.prepareOps()); err != nil {
		return nil, err
	}
	return m.wrap, nil
}

// newMiddleware makes what needs neither an engine nor a box, unless something was
// refused.
func newMiddleware(principal PrincipalFunc, opts *Options, refused error) (*middleware, error) {
	o := opts.withDefaults()
	err := errors.Join(
		refused,
		refuse(principal == nil, "principal is nil: whose keys are they? Use HeaderPrincipal or CookiePrincipal with a valid name, your own function, or Global for one scope for all callers"),
		refuse(opts != nil && len(opts.Headers) > 0 && len(opts.Keys) > 0, "Headers and Keys both say where keys stand; put the headers into Keys, as KeyHeader(name)"),
		o.validate(),
	)
	if err != nil {
		return nil, err
	}
	m := &middleware{
		principal: principal, opts: o, keys: newKeyReader(&o), rules: newRecordRules(&o),
		blocks: newBlocks(), shares: newShares(&o), noStore: []string{"no-store"}, isTrue: []string{"true"},
	}
	m.scratches.New = func() any { return new(scratch) }
	return m, nil
}

// prepare makes what follows from the options.
func (m *middleware) prepare() (err error) {
	o := &m.opts
	m.contents, err = newContentRules(o)
	m.bodyFirst = o.Verify != nil || slices.ContainsFunc(o.Keys, KeySource.needsBody)
	m.passing = !m.bodyFirst && o.Derived == nil && !o.RequireKey
	if o.Quota != nil {
		m.quotas = newQuotas(o.Quota, o.Clock)
	}
	if o.Observe {
		o.Logger.Warn("semelhttp: requests are observed only; none is guarded until Observe is off")
		m.seats = make(chan struct{}, maxObserved)
	}
	return err
}

// prepareOps makes what depends on the engine's settings too, and checks it.
func (m *middleware) prepareOps() (err error) {
	o := &m.opts
	m.op = semel.Op{Policy: o.Policy, Lease: o.Lease, Retention: o.Retention, Wait: o.Wait, Detached: true}
	if err := m.engine.Check(m.op); err != nil {
		return fmt.Errorf("semelhttp: with the engine's settings: %w", err)
	}
	defaults := m.engine.Defaults()
	m.op.Policy = cmp.Or(m.op.Policy, defaults.Policy)
	m.op.Retention = cmp.Or(m.op.Retention, defaults.Retention)
	if o.Derived != nil {
		m.derivedOp, err = derivedOp(m.engine, m.op, o.Derived)
	}
	return errors.Join(err, m.checkTokens())
}

// checkTokens refuses a retention after which a used form token would be good again.
func (m *middleware) checkTokens() error {
	k := m.keys.token
	if k == nil || m.opts.Retention == 0 {
		return nil
	}
	least := k.issuer.MinRetention()
	return refuse(m.opts.Retention < least, "Retention %v is below %v: a used form token could be used again when its record is gone; raise Retention, or shorten the Lifetime of the issuer (now %v)", m.opts.Retention, least, k.issuer.Lifetime())
}

func (m *middleware) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
}

// serve looks for a key; a request that is none to guard passes as it is.
func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !m.guards(r) {
		next.ServeHTTP(w, r)
		return
	}
	key, found, err := m.keys.find(r)
	if !found && m.passing {
		next.ServeHTTP(w, r)
		return
	}
	x := &exchange{m: m, w: w, r: r, key: key, memory: m.scratches.Get().(*scratch)}
	defer x.close()
	if m.opts.Observe {
		x.observe(next, found, err)
		return
	}
	p := x.admit(found, err)
	switch {
	case p != nil:
		m.refuse(w, *p)
	case x.from == noKey:
		x.pass(w, next)
	case m.box != nil:
		x.transact(next)
	default:
		x.serve(next)
	}
}

// guards reports whether a request is one that may take effect. An Upgrade does not
// matter: a WebSocket begins with GET (RFC 6455, section 4.1), and under any other
// method a server may ignore the offer and handle the request as one without
// (RFC 9110, section 7.8).
func (m *middleware) guards(r *http.Request) bool { return slices.Contains(m.opts.Methods, r.Method) }

// refuse sends a problem of this middleware.
func (m *middleware) refuse(w http.ResponseWriter, p Problem) {
	p.Base = m.opts.ProblemBase
	WriteProblem(w, p)
}

// refusal is the problem that answers for an error of [semel.Engine.Begin]. What a
// client cannot help is logged.
func (m *middleware) refusal(r *http.Request, err error) Problem {
	if r.Context().Err() != nil { // nobody waits for an answer
		return NewProblem(CodeOverloaded)
	}
	p := refusalOf(err)
	if p.Code == CodeStoreUnavailable && !errors.Is(err, semel.ErrStoreUnavailable) && !errors.Is(err, semel.ErrClosed) {
		m.opts.Logger.Error("semelhttp: the engine refuses every request; correct the options", slog.Any("error", err))
	}
	return p
}

// refusalOf says what an error of [semel.Engine.Begin] means to a client.
func refusalOf(err error) Problem {
	if over, ok := errors.AsType[*overQuota](err); ok {
		return over.problem()
	}
	if p, ok := ProblemOf(err); ok {
		return p
	}
	return NewProblem(CodeStoreUnavailable)
}
