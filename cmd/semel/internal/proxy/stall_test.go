package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// staller begins an answer and then hangs until the test ends.
func staller(t *testing.T, begin func(http.ResponseWriter)) *upstream {
	hang := make(chan struct{})
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		begin(w)
		http.NewResponseController(w).Flush()
		<-hang
	})
	t.Cleanup(func() { close(hang) }) // before the server waits for its requests
	return up
}

// An upstream that hangs in the middle of an answer does not hold the key for ever.
func TestStalledAnswer(t *testing.T) {
	t.Parallel()
	sized := func(w http.ResponseWriter) { w.Header().Set("Content-Length", "10") }
	live := func(w http.ResponseWriter) { io.WriteString(w, "ten") }
	for _, tc := range []struct {
		name, policy string
		begin        func(http.ResponseWriter)
		status       int // 0: a broken connection
		retry        string
	}{
		{"sized/hold", "hold", sized, 504, "outcome-unknown"},
		{"sized/retry", "retry", sized, 504, "upstream-no-answer"},
		{"live/hold", "hold", live, 0, "outcome-unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			up := staller(t, tc.begin)
			g := start(t, up.URL, "--upstream-stall-timeout=400ms", "--on-unknown="+tc.policy)
			a := g.post("k-1", "tea")
			if tc.status == 0 && a.err == nil || tc.status != 0 && a.status != tc.status {
				t.Errorf("got %d %q (%v), want %d", a.status, a.body, a.err, tc.status)
			}
			if again := g.post("k-1", "tea"); again.code() != tc.retry {
				t.Errorf("then got %d %s, want %s", again.status, again.body, tc.retry)
			}
		})
	}
}

// An event stream may be silent for longer than other answers, and not for ever.
func TestSilentStream(t *testing.T) {
	t.Parallel()
	up, saw := streamer(t, "text/event-stream")
	hung := staller(t, func(w http.ResponseWriter) { w.Header().Set("Content-Length", "10") })
	g := start(t, up.URL, "--upstream-stall-timeout=50ms")
	res := g.begin("k-1")
	in := bufio.NewReader(res.Body)
	if first, err := in.ReadString('\n'); first != "data: 1\n" {
		t.Fatalf("%q %v", first, err)
	}
	start(t, hung.URL, "--upstream-stall-timeout=200ms").post("k-1", "tea").want(t, 504, "upstream-no-answer")
	close(saw) // the stream has been silent for as long
	if rest, err := io.ReadAll(in); string(rest) != "\ndata: 2\n\n" {
		t.Errorf("%q %v", rest, err)
	}
	mute := staller(t, func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") })
	g = start(t, mute.URL, "--upstream-stream-timeout=50ms")
	if a := g.post("k-1", "tea"); a.err == nil {
		t.Errorf("a stream that hangs ended well: %d %q", a.status, a.body)
	}
	g.post("k-1", "tea").want(t, 409, "outcome-unknown")
}

// An upstream that takes nothing of a request does not hold the key either.
func TestStalledRequest(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
		}
	}()
	g := start(t, "http://"+listener.Addr().String(), "--upstream-stall-timeout=200ms", "--max-request-body=64MiB")
	body := strings.Repeat("x", 32<<20) // more than the buffers between the two take
	g.post("k-1", body).want(t, 504, "upstream-no-answer")
	g.post("k-1", body).want(t, 409, "outcome-unknown")
}
