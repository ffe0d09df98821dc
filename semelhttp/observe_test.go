package semelhttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// watcher is a service that is only observed.
type watcher struct {
	*world
	told    chan string             // what OnObserved was told
	settled chan semel.FinishParams // what was recorded
}

func observe(t *testing.T, o semelhttp.Options, handler http.HandlerFunc) *watcher {
	t.Helper()
	w := &watcher{told: make(chan string, 16), settled: make(chan semel.FinishParams, 16)}
	o.Observe = true
	o.OnObserved = func(route string, would semelhttp.Code) { w.told <- route + " " + string(would) }
	w.world = newWorld(t, &setup{http: o}, handler)
	w.store.bend(func(s *faultStore) { s.finished = w.settled })
	return w
}

// would fails unless a guard would have answered so.
func (w *watcher) would(code string) {
	w.t.Helper()
	if got := <-w.told; got != "POST "+code {
		w.t.Errorf("told %q, want %q", got, code)
	}
}

// The handler runs each time and its answer passes as it is; what a guard would
// have done is told, and that there is none is in the log.
//
// Field fault: dedupe switched off by configuration without a word.
func TestObserve(t *testing.T) {
	t.Parallel()
	w := observe(t, semelhttp.Options{}, echo)
	for i, code := range []string{"", "replay", "replay"} {
		got := w.post("b")
		if got.is(t, 201, "b"); got.replayed() || len(got.Header["Idempotency-Key"]) > 0 || got.Header.Get("Content-Length") != "1" {
			t.Errorf("request %d: the answer was changed: %v", i, got.Header)
		}
		if code == "" {
			<-w.settled
		} else {
			w.would(code)
		}
	}
	w.post("other").is(t, 201, "other")
	w.would("key-reused")
	w.post("b", header("Idempotency-Key", "a", "b")).is(t, 201, "b")
	w.would("invalid-key")
	w.post("b", as("")).is(t, 201, "b")
	w.would("no-principal")
	w.post("b", unkeyed).is(t, 201, "b")
	w.ran(7)
	w.state(semel.StateNone) // a guard begins anew
	if !strings.Contains(w.logs.String(), "none is guarded") {
		t.Error("nothing in the log")
	}
	if len(w.told) > 0 {
		t.Errorf("told %q as well", <-w.told)
	}
}

func TestObserveRunning(t *testing.T) {
	t.Parallel()
	claimed := make(chan struct{}, 2)
	g := newGate()
	w := observe(t, semelhttp.Options{Wait: time.Hour}, g.ServeHTTP)
	w.store.bend(func(s *faultStore) { s.claimed = func() { claimed <- struct{}{} } })
	second := make(chan reply)
	first := w.runMeanwhile(g, func() {
		<-claimed
		req := w.request("POST", "/charges", "b")
		go func() { second <- w.do(req) }()
		<-g.entered // it waits for nobody
		w.would("in-progress")
	})
	first.is(t, 201, "b")
	(<-second).is(t, 201, "b")
}

// Neither a store that is down nor one that hangs is noticed by a client.
func TestObserveStoreDown(t *testing.T) {
	t.Parallel()
	w := observe(t, semelhttp.Options{}, echo)
	w.store.bend(func(s *faultStore) { s.claim = semel.ErrStoreUnavailable })
	w.post("b").is(t, 201, "b")
	w.would("store-unavailable")
	hang := make(chan struct{})
	w.store.bend(func(s *faultStore) { s.claim, s.claimed = nil, func() { <-hang } })
	w.post("b").is(t, 201, "b")
	close(hang)
	<-w.settled
	w.ran(2)
}

// What the first answer means for a duplicate is observed too, and nothing is left
// for an operator.
func TestObserveOutcomes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		o       semelhttp.Options
		handler http.HandlerFunc
		state   semel.State
		would   string
	}{
		"released":   {semelhttp.Options{}, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) }, semel.StateReleased, ""},
		"decided":    {semelhttp.Options{}, func(_ http.ResponseWriter, r *http.Request) { semelhttp.Decide(r.Context(), semel.InDoubt(io.EOF)) }, semel.StateDone, "outcome-unknown"},
		"silence":    {semelhttp.Options{Policy: semel.AtMostOnce}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, semel.StateDone, "outcome-unknown"},
		"panic":      {semelhttp.Options{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, semel.StateReleased, ""},
		"too large":  {semelhttp.Options{MaxResponseBody: 3}, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "four") }, semel.StateDone, "result-unavailable"},
		"duplicates": {semelhttp.Options{Keys: []semelhttp.KeySource{semelhttp.KeyHeader("X")}, Derived: &semelhttp.DerivedKey{Window: time.Minute, Reject: true}}, echo, semel.StateDone, "duplicate-content"},
		"empty":      {semelhttp.Options{}, func(http.ResponseWriter, *http.Request) {}, semel.StateDone, "replay"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := observe(t, tt.o, tt.handler)
			send := func() {
				resp, err := w.srv.Client().Do(w.request("POST", "/charges", "b"))
				if err == nil {
					read(resp)
				}
			}
			send()
			if got := (<-w.settled).State; got != tt.state {
				t.Errorf("recorded as %v, want %v", got, tt.state)
			}
			send()
			if tt.would != "" {
				w.would(tt.would)
			} else {
				<-w.settled
			}
			w.ran(2)
		})
	}
}

// Streaming, hijacking and the client's cancellation reach through.
func TestObserveTouchesNothing(t *testing.T) {
	t.Parallel()
	entered, gone := make(chan struct{}), make(chan struct{})
	w := observe(t, semelhttp.Options{}, func(rw http.ResponseWriter, r *http.Request) {
		_, claimed := semel.RunFrom(r.Context())
		fmt.Fprint(rw, claimed)
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
		close(entered)
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := w.srv.Client().Do(w.request("POST", "/charges", "b").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, part); string(part) != "false" || err != nil { // it came while the handler is at work
		t.Errorf("got %q, %v", part, err)
	}
	<-entered
	cancel()
	<-gone
	resp.Body.Close()
	<-w.settled

	h := observe(t, semelhttp.Options{}, func(rw http.ResponseWriter, _ *http.Request) {
		conn, buf, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		buf.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		buf.Flush()
		conn.Close()
	})
	h.post("b").is(t, 200, "hi")
	<-h.settled
}

// A body that a guard would refuse reaches the handler whole; one that breaks off
// breaks off there.
func TestObserveBodies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30_000)
	w := observe(t, semelhttp.Options{MaxRequestBody: 100_000}, echo)
	w.post(long).is(t, 201, long)
	w.would("payload-too-large")
	w.post(long, func(r *http.Request) { r.ContentLength = -1 }).is(t, 201, long)
	w.would("payload-too-large")

	failed := make(chan error, 1)
	cut := observe(t, semelhttp.Options{}, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if string(body) != "half" {
			err = fmt.Errorf("read %q", body)
		}
		failed <- err
	})
	conn, err := net.Dial("tcp", cut.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nX-User: %s\r\nIdempotency-Key: k\r\nContent-Length: 8\r\n\r\nhalf", alice)
	conn.(*net.TCPConn).CloseWrite()
	if err := <-failed; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the handler got %v", err)
	}
	cut.would("incomplete-body")
	bufio.NewReader(conn).ReadByte()
}

// A callback that panics takes nothing with it.
func TestObserverThatPanics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{Observe: true, OnObserved: func(string, semelhttp.Code) { panic("mine") }}}, echo)
	w.post("b", header("Idempotency-Key", "")).is(t, 201, "b")
	if !strings.Contains(w.logs.String(), "OnObserved panicked") {
		t.Error("nothing in the log")
	}
}

// A lapse leaves no doubt behind that an operator had to resolve, whatever the
// policy of the guard to be.
func TestObserveLapse(t *testing.T) {
	t.Parallel()
	claimed := make(chan struct{}, 2)
	g := newGate()
	w := observe(t, semelhttp.Options{Policy: semel.AtMostOnce}, g.ServeHTTP)
	w.store.bend(func(s *faultStore) { s.claimed = func() { claimed <- struct{}{} } })
	second := make(chan reply)
	w.runMeanwhile(g, func() {
		<-claimed
		w.store.lapse()
		req := w.request("POST", "/charges", "b")
		go func() { second <- w.do(req) }()
		<-claimed
	})
	(<-second).is(t, 201, "b")
	if got := (<-w.settled).State; got != semel.StateDone {
		t.Errorf("recorded as %v", got)
	}
	if len(w.told) > 0 {
		t.Errorf("told %q", <-w.told)
	}
}
