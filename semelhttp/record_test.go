package semelhttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// Which answers are recorded, and which free the key.
// Field faults: 503 or 401 pinned for a day; 401 stored before login and replayed after.
func TestRecordedStatuses(t *testing.T) {
	t.Parallel()
	released := map[int]bool{401: true, 403: true, 407: true, 408: true, 421: true, 423: true, 425: true, 429: true}
	for _, storing := range []bool{false, true} {
		w := newWorld(t, &setup{http: semelhttp.Options{StoreServerErrors: storing}}, func(rw http.ResponseWriter, r *http.Request) {
			var status int
			fmt.Sscan(r.URL.RawQuery, &status)
			rw.WriteHeader(status)
		})
		for _, status := range []int{200, 201, 202, 204, 206, 299, 300, 303, 304, 307, 399, 400, 401, 402, 403, 404, 407, 408, 409, 410, 412, 418, 421, 422, 423, 424, 425, 429, 451, 499, 500, 501, 502, 503, 504, 599} {
			runs := int64(1)
			if released[status] || status >= 500 && !storing {
				runs = 2
			}
			w.runs.Store(0)
			send := func() reply {
				return w.do(w.request("POST", fmt.Sprint("/charges?", status), "b", header("Idempotency-Key", fmt.Sprint(status))))
			}
			first, again := send(), send()
			if first.StatusCode != status || again.StatusCode != status || again.replayed() != (runs == 1) {
				t.Errorf("%d: then %d, replayed %v", first.StatusCode, again.StatusCode, again.replayed())
			}
			w.ran(runs)
		}
	}
}

// Field fault: a wrong password's 400 answered to the next, right password.
func TestCorrectedRequestMeetsNoStoredError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) != "right" {
			http.Error(rw, "wrong password", http.StatusBadRequest)
		}
	})
	w.post("wrong").is(t, 400, "wrong password\n")
	w.post("right").isProblem(t, 422, "key-reused") // told to use a new key, not "wrong password"
	w.post("right", header("Idempotency-Key", "new")).is(t, 200, "")
}

// A login that comes later gets through under the same key.
func TestPoisoned401(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			rw.Header().Set("WWW-Authenticate", "Bearer")
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		echo(rw, r)
	})
	w.post("b").is(t, 401, "")
	first := w.post("b", header("Authorization", "Bearer x"))
	first.is(t, 201, "b")
	replays(t, first, w.post("b", header("Authorization", "Bearer x")))
}

// A handler's word counts more than its status.
func TestDecide(t *testing.T) {
	t.Parallel()
	cause := errors.New("why")
	tests := []struct {
		name   string
		err    error
		status int
		said   bool
		want   semel.State
	}{
		{"final 500", semel.Final(cause), 500, true, semel.StateDone},
		{"retryable 200", semel.Retryable(cause), 200, true, semel.StateReleased},
		{"in doubt 502", semel.InDoubt(cause), 502, true, semel.StateInDoubt},
		{"wrapped", fmt.Errorf("charge: %w", semel.InDoubt(cause)), 200, true, semel.StateInDoubt},
		{"any other error", cause, 500, false, semel.StateReleased},
		{"no error", nil, 200, false, semel.StateDone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
				if got := semelhttp.Decide(r.Context(), tt.err); got != tt.said {
					t.Errorf("Decide: %v", got)
				}
				rw.WriteHeader(tt.status)
			})
			w.post("b").is(t, tt.status, "")
			w.state(tt.want)
		})
	}
	if semelhttp.Decide(context.Background(), semel.Final(cause)) {
		t.Error("Decide outside a guarded handler")
	}
}

// What belongs to one caller, message or moment is not replayed.
// Threat and field fault: stored Set-Cookie or tokens.
func TestHeadersThatAreNeverReplayed(t *testing.T) {
	t.Parallel()
	const never = "Date Age Alt-Svc Server-Timing Set-Cookie Authorization Www-Authenticate Proxy-Authenticate Authentication-Info Traceparent Tracestate X-Request-Id " +
		"X-Correlation-Id Access-Control-Allow-Origin Access-Control-Expose-Headers Ratelimit Ratelimit-Limit X-Ratelimit-Remaining X-Csrf-Token X-Auth-Token X-Client-Secret " +
		"X-Api-Key X-Session-Password Keep-Alive Proxy-Connection Upgrade X-Listed x-lower-token X-Very-Long-Name-Of-More-Than-Sixty-Four-Bytes-That-Ends-With-A-Refresh-Token"
	names := strings.Fields(never)
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		for _, name := range names {
			rw.Header()[name] = []string{"v"}
		}
		rw.Header().Set("Connection", "X-Listed")
		rw.Header().Set("X-Kept", "v")
		rw.Header().Set("Idempotency-Key", "the handler's own")
	})
	first, again := w.post("b"), w.post("b")
	replays(t, first, again)
	for _, name := range names {
		first, again := first.Header.Get(name), again.Header.Get(name)
		if again != "" && name != "Date" || first == "" && name != "Connection" {
			t.Errorf("%s: first %q, replayed %q", name, first, again)
		}
	}
	if again.Header.Get("X-Kept") != "v" || again.Header.Get("Connection") != "" || again.Header.Get("Idempotency-Key") != key1 {
		t.Errorf("replayed header: %v", again.Header)
	}
}

func TestKeepSetCookie(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{KeepSetCookie: []string{"theme"}}}, func(rw http.ResponseWriter, r *http.Request) {
		for _, cookie := range []string{"sid=canary; HttpOnly", "theme=dark; Path=/", "themes=x", "theme=light"} {
			rw.Header().Add("Set-Cookie", cookie)
		}
	})
	first, again := w.post("b"), w.post("b")
	if got := first.Header["Set-Cookie"]; len(got) != 4 {
		t.Errorf("first: %q", got)
	}
	if got := fmt.Sprintf("%q", again.Header["Set-Cookie"]); got != `["theme=dark; Path=/" "theme=light"]` {
		t.Errorf("replayed: %s", got)
	}
}

// Outer layers set their headers on each answer, replays included: they are not
// recorded, and what the handler added to them is.
func TestOuterLayersHeaders(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	outer := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Serial", fmt.Sprint(served.Add(1)))
			w.Header().Set("Vary", "Origin")
			w.Header().Set("X-Replaced", "outer")
			next.ServeHTTP(w, r)
		})
	}
	w := newWorld(t, &setup{outer: outer}, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Add("Vary", "Accept")
		rw.Header().Set("X-Replaced", "handler")
	})
	w.post("b")
	h := w.post("b").Header
	if got := fmt.Sprint(h["X-Serial"], h["Vary"], h["X-Replaced"]); got != "[2] [Origin Accept] [handler]" {
		t.Errorf("replayed %s", got)
	}
}

// The mark tells replays apart, so a handler's own is taken out.
func TestHandlersOwnMarkIsStripped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{ReplayedHeader: "x-again"}}, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Again", "false")
		rw.Header().Set("Idempotent-Replayed", "mine")
	})
	first, again := w.post("b"), w.post("b")
	if got := first.Header["X-Again"]; got != nil {
		t.Errorf("first answer: %q", got)
	}
	if got := fmt.Sprint(again.Header["X-Again"], again.Header["Idempotent-Replayed"]); got != "[true] [mine]" {
		t.Errorf("replay: %s", got)
	}
}

// Threat: replay after permission was withdrawn.
func TestPermissionIsWithdrawn(t *testing.T) {
	t.Parallel()
	var withdrawn atomic.Bool
	authorize := func(*http.Request) error {
		if withdrawn.Load() {
			return errors.New("canary")
		}
		return nil
	}
	w := newWorld(t, &setup{http: semelhttp.Options{ReplayAuthorize: authorize}}, echo)
	first := w.post("b")
	replays(t, first, w.post("b"))
	withdrawn.Store(true)
	w.post("b").isProblem(t, 403, "replay-forbidden")
	w.post("b", header("Idempotency-Key", "fresh")).is(t, 201, "b") // replays only
}

// A compressed answer goes only to a client that accepts it.
func TestContentCoding(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, "plain text")
	z.Close()
	coding := func(accept ...string) change { return header("Accept-Encoding", accept...) }
	for _, name := range []string{"gzip", "x-gzip", "br"} {
		w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", name)
			rw.Header().Set("Content-Type", "text/plain")
			rw.Write(zipped.Bytes())
		})
		w.post("b", coding("gzip, br")).is(t, 200, zipped.String())
		for _, accept := range [][]string{{name}, {"deflate", name + ";q=0.5"}, {"*"}, {"identity;q=0, *;q=0.1"}} {
			r := w.post("b", coding(accept...))
			r.is(t, 200, zipped.String())
			if r.Header.Get("Content-Encoding") != name {
				t.Errorf("%q: Content-Encoding %q", accept, r.Header.Get("Content-Encoding"))
			}
		}
		for _, accept := range [][]string{{"identity"}, {name + ";q=0, *"}, {"*;q=0"}, {"deflate"}} {
			r := w.post("b", coding(accept...))
			if name == "br" {
				r.isProblem(t, 409, "result-unavailable")
				continue
			}
			r.is(t, 200, "plain text")
			if r.Header.Get("Content-Encoding") != "" || r.Header.Get("Content-Length") != "10" {
				t.Errorf("%q: header %v", accept, r.Header)
			}
		}
		w.ran(1)
	}
}

// Threat: decompression bombs.
func TestDecompressionIsBounded(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(make([]byte, 100<<10))
	z.Close()
	answers := map[string]string{"bomb": zipped.String(), "no gzip at all": "text", "cut": zipped.String()[:zipped.Len()-4]}
	for name, body := range answers {
		w := newWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: 1 << 10}}, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			io.WriteString(rw, body)
		})
		w.post("b", header("Accept-Encoding", "gzip;q=1.0"))
		t.Log(name)
		w.post("b", header("Accept-Encoding", "identity")).isProblem(t, 409, "result-unavailable")
	}
}

// A record that somebody else wrote, or damaged, is not replayed and not run again.
func TestUnreadableRecords(t *testing.T) {
	t.Parallel()
	good := semelhttp.EncodeResponse(semelhttp.Response{Status: 200, Body: []byte("x")})
	evil := semelhttp.EncodeResponse(semelhttp.Response{Status: 200, Header: []semelhttp.HeaderPair{{Name: "X", Value: "a\r\nSet-Cookie: canary"}}})
	results := map[string]semel.StoredResult{
		"header injection": evil,
		"cut":              {Kind: semel.ResultHTTP, Data: good.Data[:len(good.Data)-1]},
		"newer":            {Kind: semel.ResultHTTP, Data: append([]byte{99}, good.Data[1:]...)},
		"a value":          {Kind: semel.ResultValue, Data: []byte("7")},
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			w = newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
				w.usurp(semel.ResolveParams{Resolution: semel.ResolveDone, Result: result})
			})
			for range 2 { // the fenced run, then a replay
				r := w.post("b")
				r.isProblem(t, 409, "result-unavailable")
				if r.Header.Get("Set-Cookie") != "" {
					t.Errorf("header: %v", r.Header)
				}
			}
			w.ran(1)
		})
	}
}
