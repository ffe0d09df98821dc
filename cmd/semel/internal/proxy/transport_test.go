package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// guardedContext is a context as guarded handlers have it.
func guardedContext(t *testing.T) context.Context {
	t.Helper()
	store, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: semel.Global}, "k"), Input: semel.NoInput}
	run, _, err := engine.Begin(t.Context(), op)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Finish(semel.Verdict{State: semel.StateReleased})
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return run.Context()
}

// Guarded requests have a connection to themselves; all others may share one.
func TestGuardedRequestsUseHTTP1(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	up := newUpstream(patience{idle: time.Second, answer: time.Minute})
	for _, rt := range []http.RoundTripper{up.guarded, up.plain} {
		transport := rt.(*http.Transport)
		transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		t.Cleanup(transport.CloseIdleConnections)
	}
	for want, ctx := range map[string]context.Context{"HTTP/1.1": guardedContext(t), "HTTP/2.0": t.Context()} {
		r, _ := http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader("tea"))
		res, err := up.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		proto, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(proto) != want {
			t.Errorf("got %s, want %s", proto, want)
		}
	}
}

// mutedConn takes no bytes once it is muted.
type mutedConn struct {
	net.Conn
	muted *atomic.Bool
}

func (c *mutedConn) Write(p []byte) (int, error) {
	if c.muted.Load() {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(p)
}

// A reused connection that takes no byte more: the request has not left.
func TestNothingWrittenOnAReusedConnection(t *testing.T) {
	t.Parallel()
	dials, muted := 0, &atomic.Bool{}
	serve := func(context.Context, string, string) (net.Conn, error) {
		dials++
		near, far := net.Pipe()
		t.Cleanup(func() { near.Close(); far.Close() })
		go func() {
			if r, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
				io.Copy(io.Discard, r.Body)
				io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}()
		return &mutedConn{Conn: near, muted: muted}, nil
	}
	transport := &http.Transport{DialContext: counted(serve, 0)}
	up := &upstream{guarded: transport, plain: transport}
	post := func() error {
		r, _ := http.NewRequestWithContext(t.Context(), "POST", "http://upstream.test", io.MultiReader(strings.NewReader("tea")))
		res, err := up.RoundTrip(r)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	if err := post(); err != nil {
		t.Fatal(err)
	}
	muted.Store(true)
	err := post()
	s, ok := errors.AsType[*silence](err)
	if !ok || s.written {
		t.Errorf("got %v, want a silence with nothing written", err)
	}
	if dials != 1 {
		t.Errorf("%d dials: the connection was not reused", dials)
	}
}

// A request of which a part went out may have been executed.
func TestPartWritten(t *testing.T) {
	t.Parallel()
	half := func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			io.CopyN(io.Discard, far, 10)
			far.Close()
		}()
		return near, nil
	}
	transport := &http.Transport{DialContext: counted(half, 0)}
	up := &upstream{guarded: transport, plain: transport}
	r, _ := http.NewRequestWithContext(t.Context(), "POST", "http://upstream.test", io.MultiReader(strings.NewReader("tea")))
	_, err := up.RoundTrip(r)
	if s, ok := errors.AsType[*silence](err); !ok || !s.written {
		t.Errorf("got %v, want a silence with something written", err)
	}
}

// What cannot be counted counts as written.
func TestUncountedConnection(t *testing.T) {
	t.Parallel()
	s := sent{got: true}
	if !s.anything() {
		t.Error("a connection that does not count was taken for an unused one")
	}
}
