package semelhttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

func TestHijack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		conn, buf, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		buf.WriteString("HTTP/1.1 299 Mine\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
		buf.Flush()
		if _, err := rw.Write([]byte("x")); !errors.Is(err, http.ErrHijacked) {
			t.Errorf("Write: %v", err)
		}
	})
	w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 1) })
	w.post("b").is(t, 299, "ok")
	if f := <-w.store.finished; f.State != semel.StateDone || f.Result.Kind != semel.ResultTombstone {
		t.Errorf("finished with %+v", f)
	}
	again := w.post("b")
	again.isProblem(t, 409, "result-unavailable")
	if strings.Contains(again.body, "original_status") {
		t.Errorf("nobody knows the status: %s", again.body)
	}
	w.ran(1)
}

func TestHijackNeedsTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		_, _, err := rw.(http.Hijacker).Hijack()
		fmt.Fprint(rw, errors.Is(err, semel.ErrStoreUnavailable))
	})
	w.store.bend(func(s *faultStore) { s.renew = semel.ErrStoreUnavailable })
	w.post("b").is(t, 200, "true")
}

func TestHijackNotSupported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{h2: true}, func(rw http.ResponseWriter, r *http.Request) {
		_, _, err := rw.(http.Hijacker).Hijack()
		fmt.Fprint(rw, errors.Is(err, http.ErrNotSupported))
	})
	first := w.post("b")
	first.is(t, 200, "true")
	replays(t, first, w.post("b"))
	if got := w.record(alice, "", key1).Policy; got != semel.AtLeastOnce {
		t.Errorf("the policy is %v though nothing went live", got)
	}
}

func TestWebSocketPassesThrough(t *testing.T) {
	t.Parallel()
	for _, key := range []string{key1, "bad,key"} {
		w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
			conn, buf, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			buf.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			buf.Flush()
			io.CopyN(conn, buf, 4)
		})
		for range 2 {
			resp, conn := w.rawExchange("GET /ws HTTP/1.1\nHost: a\nConnection: keep-alive, Upgrade\nUpgrade: websocket\nIdempotency-Key: " + key + "\n\n")
			if resp.StatusCode != 101 {
				t.Fatal(resp.Status)
			}
			io.WriteString(conn, "ping")
			pong := make([]byte, 4)
			if _, err := io.ReadFull(conn, pong); string(pong) != "ping" || err != nil {
				t.Errorf("%q, %v", pong, err)
			}
		}
		w.state(semel.StateNone)
		w.ran(2)
	}
}

// An offer that a server may ignore is no way around the guard.
func TestUpgradeOffersAreGuarded(t *testing.T) {
	t.Parallel()
	offers := [][]string{
		{"h2c"}, {"H2C"}, {"h2"}, {"h2c, x"}, {"x, h2c"}, {"h2c", "x"}, {"TLS/1.2"}, {"x"}, {""}, {","},
		{"websocket"}, {"websocket, h2c"}, {"h2c,websocket"}, {"websocket", "h2c"}, {"websocket", "websocket"}, {"websocket/13"},
	}
	for _, offer := range offers {
		w := newWorld(t, nil, echo)
		send := func() reply {
			r := w.request("POST", "/charges", "b", header("Connection", "Upgrade, HTTP2-Settings"), header("Upgrade", offer...))
			rec := httptest.NewRecorder()
			w.whole.ServeHTTP(rec, r)
			return read(rec.Result())
		}
		first, again := send(), send()
		replays(t, first, again)
		if w.runs.Load() != 1 {
			t.Errorf("Upgrade: %q executed %d times", offer, w.runs.Load())
		}
	}
	w := newWorld(t, nil, echo)
	replays(t, w.post("b", header("Upgrade", "websocket")), w.post("b", header("Upgrade", "websocket"))) // not in Connection
}

func TestControllerAndHijackAfterHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(rw)
		if err := rc.SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Errorf("SetWriteDeadline: %v", err)
		}
		rw.Header().Set("Content-Length", "4")
		rw.WriteHeader(http.StatusAccepted)
		conn, buf, err := rc.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		buf.WriteString("mine")
		buf.Flush()
	})
	w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 1) })
	w.post("b").is(t, 202, "mine")
	<-w.store.finished
	again := w.post("b")
	again.isProblem(t, 409, "result-unavailable")
	if !strings.Contains(again.body, `"original_status":202`) {
		t.Errorf("body: %s", again.body)
	}
}
