package semelhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/semel-go/semel"
)

// Decide says from inside a guarded handler what its run means, whatever status
// it answers with. err is made by [semel.Final]: the answer is recorded, also one
// of 500. By [semel.Retryable]: nothing happened, the key is released. By
// [semel.InDoubt]: nobody knows, the record is in doubt. The last call counts. It
// returns false, and changes nothing, for any other error and outside a guarded
// handler.
func Decide(ctx context.Context, err error) bool {
	g, ok := ctx.Value(guardKey{}).(*guard)
	if !ok {
		return false
	}
	state := semel.StateNone
	said, isSaid := errors.AsType[saidError](err)
	_, isFinal := errors.AsType[*semel.FinalError](err)
	switch {
	case isSaid:
		state = said.State()
	case isFinal:
		state = semel.StateDone
	}
	return state != semel.StateNone && g.decide(state)
}

// saidError is what semel.Retryable and semel.InDoubt make.
type saidError interface {
	error
	State() semel.State
}

type guardKey struct{}

// guard is the context of a guarded handler.
type guard struct {
	context.Context
	mu    sync.Mutex
	state semel.State
}

// Value is [context.Context]'s.
func (g *guard) Value(key any) any {
	if key == (guardKey{}) {
		return g
	}
	return g.Context.Value(key)
}

func (g *guard) decide(s semel.State) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = s
	return true
}

func (g *guard) decided() semel.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

// stateOf is what an answer means for the record of the request, unless the handler
// decided. A form that is refused gives its token back: it comes again, corrected.
func (x *exchange) stateOf(status int) semel.State {
	if x.from == issuedToken && status >= 400 && status < 500 {
		return semel.StateReleased
	}
	return x.m.stateOf(status)
}

// stateOf is what an answer means for a record.
func (m *middleware) stateOf(status int) semel.State {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusMisdirectedRequest, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests:
		return semel.StateReleased // about the caller or the moment, not about the operation
	}
	if status >= 500 && !m.opts.StoreServerErrors {
		return semel.StateReleased
	}
	return semel.StateDone
}
