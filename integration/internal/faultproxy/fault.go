package faultproxy

import (
	"strings"
	"sync"
)

// Fault is what happens to a statement.
type Fault struct {
	kind  kind
	until <-chan struct{}
}

type kind string

const (
	cutBefore  kind = "CutBefore"
	cutReply   kind = "CutReply"
	closeReply kind = "CloseReply"
	reset      kind = "Reset"
	delay      kind = "Delay"
	delayReply kind = "DelayReply"
	blackhole  kind = "Blackhole"
)

// CutBefore resets the client's connection and does not pass the statement on: it is
// not executed. A transaction that it would have ended is rolled back.
func CutBefore() Fault { return Fault{kind: cutBefore} }

// CutReply passes the statement on, waits for the end of the reply, drops it and
// resets the client's connection: it was executed, and the client does not know.
func CutReply() Fault { return Fault{kind: cutReply} }

// CloseReply is CutReply with a connection that is closed in order, as a load balancer
// or an ending server does. Drivers may take that for another error: lib/pq reports
// driver.ErrBadConn, so that database/sql sends a statement outside of a transaction
// again, and it is executed twice.
func CloseReply() Fault { return Fault{kind: closeReply} }

// Reset passes the statement on and resets the client's connection at once: when the
// client sees the error, the server may not have begun. It will execute it: requests to
// cancel do not pass the proxy from now on.
func Reset() Fault { return Fault{kind: reset} }

// Delay holds the statement back until the channel is closed, and passes it on then,
// even if the client has gone: requests to cancel do not pass the proxy from now on.
func Delay(until <-chan struct{}) Fault { return Fault{kind: delay, until: until} }

// DelayReply passes the statement on and holds the reply back, once it is complete,
// until the channel is closed.
func DelayReply(until <-chan struct{}) Fault { return Fault{kind: delayReply, until: until} }

// Blackhole swallows the statement and all that comes after it on this connection in
// both directions. The connection stays open, also to the server, until the test ends.
func Blackhole() Fault { return Fault{kind: blackhole} }

// Starts matches statements that begin with a prefix, in any case.
func Starts(prefix string) func(statement string) bool {
	return func(statement string) bool {
		statement = strings.TrimSpace(statement)
		return len(statement) >= len(prefix) && strings.EqualFold(statement[:len(prefix)], prefix)
	}
}

// Armed is a fault that waits for its statement. It fires once.
type Armed struct {
	Fault
	match func(statement string) bool
	once  sync.Once
	fired chan struct{}
}

// Fired is closed when the fault has happened: the connection is cut, or the statement
// or its reply is held back.
func (a *Armed) Fired() <-chan struct{} { return a.fired }

func (a *Armed) fire() { a.once.Do(func() { close(a.fired) }) }
