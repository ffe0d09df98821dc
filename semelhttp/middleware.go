package semelhttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// middleware holds what all requests share.
type middleware struct {
	engine    *semel.Engine
	principal PrincipalFunc
	opts      Options
	keys      keySource
	rules     recordRules
	blocks    *blocks
	scratches sync.Pool

	noStore, isTrue []string // header values of every replay; nobody changes them
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
	o := opts.withDefaults()
	err := errors.Join(
		refuse(e == nil, "the engine is nil; make one with semel.New"),
		refuse(principal == nil, "principal is nil: whose keys are they? Use HeaderPrincipal, CookiePrincipal, your own function, or Global for one scope for all callers"),
		o.validate(),
	)
	if err != nil {
		return nil, err
	}
	m := &middleware{
		engine: e, principal: principal, opts: o,
		keys:   keySource{headers: o.Headers, strict: o.StrictKeys, min: o.MinKeyLength, max: o.MaxKeyLength, format: o.KeyFormat},
		rules:  recordRules{ownNames: append(slices.Clone(o.Headers), o.ReplayedHeader), keepCookies: slices.Clone(o.KeepSetCookie)},
		blocks: newBlocks(), noStore: []string{"no-store"}, isTrue: []string{"true"},
	}
	m.scratches.New = func() any { return new(scratch) }
	return m.wrap, nil
}

func (m *middleware) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
}

// serve checks what can be checked without the body; see [middleware.guarded].
func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !m.guards(r) {
		next.ServeHTTP(w, r)
		return
	}
	key, found, err := m.keys.find(r.Header)
	switch {
	case err != nil:
		p := NewProblem(CodeInvalidKey)
		p.Detail = "The key cannot be used: " + err.Error() + "."
		m.refuse(w, p)
		return
	case !found && m.opts.RequireKey:
		m.refuse(w, NewProblem(CodeMissingKey))
		return
	case !found:
		next.ServeHTTP(w, r)
		return
	}
	principal, ok := m.principalOf(r)
	if !ok {
		p := NewProblem(CodeNoPrincipal)
		p.Challenge = m.opts.Challenge
		m.refuse(w, p)
		return
	}
	m.guarded(w, r, next, principal, key)
}

// guards reports whether a request is one that may take effect. Upgrades pass;
// the offer of HTTP/2 on cleartext, which some clients make with every request
// and net/http ignores, is none.
func (m *middleware) guards(r *http.Request) bool {
	if !slices.Contains(m.opts.Methods, r.Method) {
		return false
	}
	offers := r.Header["Upgrade"]
	if len(offers) == 0 || !listed(r.Header["Connection"], "Upgrade") {
		return true
	}
	return strings.EqualFold(strings.Join(offers, ","), "h2c")
}

// guarded reads the body, claims, and runs the handler or answers for it.
func (m *middleware) guarded(w http.ResponseWriter, r *http.Request, next http.Handler, principal string, key sentKey) {
	x := &exchange{m: m, w: w, r: r, key: key, memory: m.scratches.Get().(*scratch)}
	defer x.close()
	if p, ok := x.readBody(); !ok {
		m.refuse(w, p)
		return
	}
	if r.Context().Err() != nil { // nobody waits for an answer: no claim
		m.refuse(w, NewProblem(CodeOverloaded))
		return
	}
	run, rec, err := x.begin(principal)
	switch {
	case err != nil:
		m.refuse(w, m.problemOf(err))
	case rec != nil:
		m.replay(w, r, rec, key)
	default:
		x.run(run, next)
	}
}

// refuse sends a problem of this middleware.
func (m *middleware) refuse(w http.ResponseWriter, p Problem) {
	p.Base = m.opts.ProblemBase
	WriteProblem(w, p)
}

// problemOf says what an error of [semel.Engine.Begin] means to a client.
func (m *middleware) problemOf(err error) Problem {
	busy, running := errors.AsType[*semel.InProgressError](err)
	_, mismatch := errors.AsType[*semel.MismatchError](err)
	_, doubt := errors.AsType[*semel.InDoubtError](err)
	_, format := errors.AsType[*semel.RecordFormatError](err)
	switch {
	case running && errors.Is(err, semel.ErrWaitersFull), errors.Is(err, semel.ErrStoreFull):
		return NewProblem(CodeOverloaded)
	case running:
		p := NewProblem(CodeInProgress)
		p.RetryAfter = max(busy.RetryAfter, time.Second)
		return p
	case mismatch:
		return NewProblem(CodeKeyReused)
	case doubt:
		return NewProblem(CodeOutcomeUnknown)
	case format:
		return NewProblem(CodeResultUnavailable)
	}
	if _, down := errors.AsType[*semel.StoreError](err); !down && !errors.Is(err, semel.ErrClosed) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		m.opts.Logger.Error("semelhttp: the engine refuses every request; correct the options", slog.Any("error", err))
	}
	return NewProblem(CodeStoreUnavailable)
}
