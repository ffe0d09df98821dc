package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// drop ends the connection of a request without a word.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
}

// raw answers with exactly these bytes and ends the connection.
func raw(w http.ResponseWriter, wire string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		io.WriteString(conn, wire)
		conn.Close()
	}
}

// What each end of a round trip means, under hold and under retry: the table of
// docs/gateway.md.
func TestFailureMapping(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		upstream func(http.ResponseWriter)
		flags    string
		status   int    // of the first answer
		code     string // of the first answer, if it is the gateway's own
		hold     string // what a retry gets under hold: doubt, run or replay
		retry    string // the same under retry
	}{
		{"silence", drop, "", 504, "upstream-no-answer", "doubt", "run"},
		{"nonsense", func(w http.ResponseWriter) { raw(w, "what?\r\n\r\n") }, "", 504, "upstream-no-answer", "doubt", "run"},
		{"upstream's own 502", status(502), "", 502, "", "doubt", "run"},
		{"upstream's own 504", status(504), "", 504, "", "doubt", "run"},
		{"upstream's own 504, 5xx stored", status(504), "--store-5xx", 504, "", "doubt", "run"},
		{"500", status(500), "", 500, "", "run", "run"},
		{"503", status(503), "", 503, "", "run", "run"},
		{"500, 5xx stored", status(500), "--store-5xx", 500, "", "replay", "replay"},
		{"503, 5xx stored", status(503), "--store-5xx", 503, "", "replay", "replay"},
		{"409", status(409), "", 409, "", "replay", "replay"},
		{"429", status(429), "", 429, "", "run", "run"},
		{"cut answer of known length", func(w http.ResponseWriter) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it")
		}, "", 504, "upstream-no-answer", "doubt", "run"},
		{"cut answer of unknown length", func(w http.ResponseWriter) {
			raw(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
		}, "", 504, "upstream-no-answer", "doubt", "run"},
		{"answer cut in its header", func(w http.ResponseWriter) { raw(w, "HTTP/1.1 200 OK\r\nContent-Le") }, "", 504, "upstream-no-answer", "doubt", "run"},
		{"cut stream", func(w http.ResponseWriter) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
		}, "", 0, "", "doubt", "run"},
	} {
		for _, mode := range []string{"hold", "retry"} {
			t.Run(row.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					row.upstream(w)
				})
				g := start(t, up.URL, append(strings.Fields(row.flags), "--on-unknown="+mode)...)
				then := map[string]string{"hold": row.hold, "retry": row.retry}[mode]
				first := g.post("k-1", "tea")
				wantFirst(t, first, row.status, row.code)
				wantRetry(t, up, g.post("k-1", "tea"), first, then)
			})
		}
	}
}

func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("X-Service", "kept")
		w.WriteHeader(code)
		fmt.Fprintf(w, "the service says %d", code)
	}
}

func wantFirst(t *testing.T, a answer, status int, code string) {
	t.Helper()
	switch {
	case status == 0: // cut in the middle: the client must see that
		if a.err == nil {
			t.Errorf("a cut answer was taken for whole: %d %q", a.status, a.body)
		}
	case code != "":
		a.want(t, status, code)
	case a.status != status || a.body != fmt.Sprintf("the service says %d", status) || a.header.Get("X-Service") != "kept":
		t.Errorf("the upstream's answer did not pass as it came: %d %q %v", a.status, a.body, a.header)
	}
}

func wantRetry(t *testing.T, up *upstream, a, first answer, then string) {
	t.Helper()
	switch then {
	case "doubt":
		a.want(t, 409, "outcome-unknown")
		if a.header.Get("Retry-After") != "" {
			t.Error("Retry-After on a doubt, which asking again does not change")
		}
		up.wantExecuted(t, 1)
	case "run":
		up.wantExecuted(t, 2)
	case "replay":
		if !a.replayed() || a.status != first.status || a.body != first.body {
			t.Errorf("no replay: %d %q", a.status, a.body)
		}
		up.wantExecuted(t, 1)
	}
}

// The layer tells a program what to do: under retry the same request again,
// under hold nothing by itself.
func TestNoAnswerSaysWhatToDo(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) { drop(w) })
	held := start(t, up.URL, "--on-unknown=hold").post("k", "")
	if !strings.Contains(held.body, `"retry":"never"`) || held.header.Get("Retry-After") != "" {
		t.Errorf("hold: %s %v", held.body, held.header)
	}
	released := start(t, up.URL, "--on-unknown=retry").post("k", "")
	if !strings.Contains(released.body, `"retry":"same-key"`) || released.header.Get("Retry-After") == "" {
		t.Errorf("retry: %s %v", released.body, released.header)
	}
}

// Nothing was written: released under both, and the next attempt runs.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hold", "retry"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			addr := listener.Addr().String()
			listener.Close()
			g := start(t, "http://"+addr, "--on-unknown="+mode)
			first := g.post("k-1", "tea")
			first.want(t, 502, "upstream-unreachable")
			if !strings.Contains(first.body, `"retry":"same-key"`) || first.header.Get("Retry-After") == "" {
				t.Errorf("got %s %v", first.body, first.header)
			}
			g.post("k-1", "tea").want(t, 502, "upstream-unreachable") // not in doubt
			g.post("", "tea").want(t, 502, "upstream-unreachable")    // nor is it only for keyed requests
		})
	}
}

// A TLS handshake that fails has written nothing of the request.
func TestTLSFailureIsUnreachable(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {})
	plain := strings.TrimPrefix(up.URL, "http://")
	g := start(t, "https://"+plain)
	g.post("k-1", "tea").want(t, 502, "upstream-unreachable")
	g.post("k-1", "tea").want(t, 502, "upstream-unreachable")
	up.wantExecuted(t, 0)
}

// The upstream takes too long to begin its answer: silence, whatever it does later.
func TestUpstreamTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-release
	})
	g := start(t, up.URL, "--upstream-timeout=50ms")
	t.Cleanup(func() { close(release) })
	g.post("k-1", "tea").want(t, 504, "upstream-no-answer")
	g.post("k-1", "tea").want(t, 409, "outcome-unknown")
	up.wantExecuted(t, 1)
}
