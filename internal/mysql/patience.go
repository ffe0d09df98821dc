package mysql

import (
	"context"
	"errors"
	"sync"
	"time"
)

var errTooSlow = errors.New("the database did not answer within the store's timeout")

// patience bounds calls. They share a context, since a timer for each call costs more
// than all else that a store adds to a statement: so a bound is late by a quarter at most.
type patience struct {
	timeout time.Duration

	mu     sync.Mutex
	shared context.Context
	end    time.Time // of shared
}

// bound is a context that ends with the caller's, and with the patience of the store.
func (p *patience) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= p.timeout {
		return ctx, func() {}
	}
	shared := p.current()
	if ctx.Done() == nil {
		return shared, func() {}
	}
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(shared, func() { cancel(context.Cause(shared)) })
	return both, func() { stop(); cancel(nil) }
}

// current is the shared context, a new one once it has less than the timeout left. The
// one before ends at its time.
func (p *patience) current() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.shared == nil || p.end.Sub(now) < p.timeout {
		length := p.timeout + p.timeout/4
		shared, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(length, func() { cancel(errTooSlow) })
		p.shared, p.end = shared, now.Add(length)
	}
	return p.shared
}
