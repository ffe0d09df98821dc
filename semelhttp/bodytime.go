package semelhttp

import (
	"net/http"
	"time"
)

// bodyBound is the deadline by which a body has to be there. One that missed it
// stays: net/http then does not wait for the rest either, and closes the connection.
type bodyBound struct{ conn readDeadliner }

// boundBody sets the deadline where the connection can have one. A server whose own
// ReadTimeout is no longer has set it already. What is only observed is not cut.
func (x *exchange) boundBody() (b bodyBound) {
	timeout := x.m.opts.BodyTimeout
	if timeout < 0 || x.m.opts.Observe {
		return b
	}
	server, _ := x.r.Context().Value(http.ServerContextKey).(*http.Server)
	if server != nil && server.ReadTimeout > 0 && server.ReadTimeout <= timeout {
		return b
	}
	if b.conn = deadlinerOf(x.w); b.conn != nil {
		_ = b.conn.SetReadDeadline(time.Now().Add(timeout)) // an error means that there is none
	}
	return b
}

// lift takes the deadline back: while a handler works it would end the context.
func (b bodyBound) lift() {
	if b.conn != nil {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
}

type readDeadliner interface{ SetReadDeadline(time.Time) error }

// deadlinerOf finds what [http.ResponseController] would use, or nil.
func deadlinerOf(w http.ResponseWriter) readDeadliner {
	for {
		switch t := w.(type) {
		case readDeadliner:
			return t
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return nil
		}
	}
}
