package proxy

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// countedConn counts the bytes written to an upstream connection, so that a
// failed request can tell "nothing reached the upstream" from "unknown".
type countedConn struct {
	net.Conn
	stall   time.Duration // of one write; 0: no limit
	written atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	if c.stall > 0 {
		c.SetWriteDeadline(time.Now().Add(c.stall)) // of a broken connection the write tells more
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// counted makes dial return counted connections, whose writes may stand still for
// stall.
func counted(dial dialFunc, stall time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, stall: stall}, nil
	}
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// sent watches one round trip over HTTP/1.1, where a request has its connection
// to itself from GotConn until RoundTrip returns, and where RoundTrip fails only
// after its writer has stopped.
type sent struct {
	got    bool
	conn   *countedConn
	before int64
}

func (s *sent) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		s.got = true
		if s.conn = countedFrom(info.Conn); s.conn != nil {
			s.before = s.conn.written.Load()
		}
	}}
}

// anything reports whether bytes of the request may have left. In doubt it says
// yes: without a connection nothing did, and on a counted one the count tells.
func (s *sent) anything() bool {
	return s.got && (s.conn == nil || s.conn.written.Load() != s.before)
}

func countedFrom(conn net.Conn) *countedConn {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c, _ := conn.(*countedConn)
	return c
}
