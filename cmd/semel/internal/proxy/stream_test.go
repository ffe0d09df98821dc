package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// streamer sends an event, and the next one only after the client has told that
// it saw the first: a gateway that holds events back would never finish.
func streamer(t *testing.T, contentType string) (*upstream, chan struct{}) {
	saw := make(chan struct{})
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		select {
		case <-saw:
		case <-r.Context().Done():
			return
		}
		io.WriteString(w, "data: 2\n\n")
	})
	return up, saw
}

// begin posts tea and returns the answer as soon as it begins.
func (g *gateway) begin(key string) *http.Response {
	g.t.Helper()
	r, err := http.NewRequest("POST", g.url, strings.NewReader("tea"))
	if err != nil {
		g.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := g.client.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestStreamsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, contentType, key string }{
		{"events", "text/event-stream", ""},
		{"guarded events", "text/event-stream", "k-1"},
		{"guarded events with parameters", "Text/Event-Stream; charset=utf-8", "k-1"},
		{"lines", "application/x-ndjson", ""},
		{"guarded lines", "application/x-ndjson", "k-1"}, // after a moment of patience
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			up, saw := streamer(t, tc.contentType)
			g := start(t, up.URL)
			res := g.begin(tc.key)
			in := bufio.NewReader(res.Body)
			first, err := in.ReadString('\n')
			if first != "data: 1\n" {
				t.Fatalf("%q %v", first, err)
			}
			close(saw)
			if rest, err := io.ReadAll(in); string(rest) != "\ndata: 2\n\n" {
				t.Errorf("%q %v", rest, err)
			}
			if tc.key == "" {
				return
			}
			if again := g.send("POST", "/", tc.key, "tea"); !again.replayed() || again.body != "data: 1\n\ndata: 2\n\n" {
				t.Errorf("the whole stream is replayed: %d %q", again.status, again.body)
			}
			up.wantExecuted(t, 1)
		})
	}
}

// An answer that is too long to be recorded passes as it comes.
func TestLongAnswersAreNotHeldBack(t *testing.T) {
	t.Parallel()
	part := strings.Repeat("x", 64<<10)
	saw := make(chan struct{})
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(2*len(part)))
		io.WriteString(w, part)
		http.NewResponseController(w).Flush()
		<-saw
		io.WriteString(w, part)
	})
	g := start(t, up.URL, "--max-response-body=4KiB")
	res := g.begin("k-1")
	if _, err := io.CopyN(io.Discard, res.Body, 32<<10); err != nil {
		t.Error(err)
	}
	close(saw)
	if n, err := io.Copy(io.Discard, res.Body); n != 96<<10 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// An answer over the limit passes whole and leaves a tombstone.
// Field fault: over-size result dropped, so the work runs again.
func TestAnswerOverTheLimit(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 5<<10)
	for _, length := range []string{"known", "unknown"} {
		t.Run(length, func(t *testing.T) {
			t.Parallel()
			up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				if length == "unknown" {
					http.NewResponseController(w).Flush()
				}
				io.WriteString(w, body)
			})
			g := start(t, up.URL, "--max-response-body=4KiB")
			if a := g.post("k-1", "tea"); a.status != 200 || a.body != body {
				t.Errorf("got %d, %d bytes (%v)", a.status, len(a.body), a.err)
			}
			a := g.post("k-1", "tea")
			a.want(t, 409, "result-unavailable")
			if !strings.Contains(a.body, `"original_status":200`) {
				t.Errorf("got %s", a.body)
			}
			up.wantExecuted(t, 1)
		})
	}
}

func TestRequestOverTheLimit(t *testing.T) {
	t.Parallel()
	up, _ := recorder(t)
	g := start(t, up.URL, "--max-request-body=4KiB")
	g.post("k-1", strings.Repeat("x", 5<<10)).want(t, 413, "payload-too-large")
	up.wantExecuted(t, 0)
	if a := g.post("", strings.Repeat("x", 5<<10)); a.status != 200 {
		t.Errorf("an unguarded request has no limit: %d", a.status)
	}
}

// A small body of an unguarded request is here before the upstream hears of it:
// while the transport still reads it, a streaming answer could be cut.
func TestSmallBodiesAreReadFirst(t *testing.T) {
	t.Parallel()
	up, seen := recorder(t)
	g := start(t, up.URL)
	conn, in := g.dial()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc")
	other := g.send("GET", "/", "", "") // passes the half request by
	if other.status != 200 || (<-seen).Method != "GET" {
		t.Fatalf("got %+v", other)
	}
	up.wantExecuted(t, 1)
	io.WriteString(conn, "def")
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%v %v", res, err)
	}
	if r := <-seen; r.ContentLength != 6 {
		t.Errorf("Content-Length %d", r.ContentLength)
	}
}

// A body that breaks off reaches no upstream, guarded or not.
func TestCutUpload(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"Content-Length: 6\r\n\r\nabc",
		"Content-Length: 6\r\nIdempotency-Key: k-1\r\n\r\nabc",
		"Transfer-Encoding: chunked\r\nIdempotency-Key: k-1\r\n\r\n6\r\nabc",
	} {
		up, _ := recorder(t)
		g := start(t, up.URL)
		conn, in := g.dial()
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+head)
		conn.(interface{ CloseWrite() error }).CloseWrite()
		res, err := http.ReadResponse(in, nil)
		if err == nil && res.StatusCode != 400 {
			t.Errorf("%q: got %d", head, res.StatusCode)
		}
		up.wantExecuted(t, 0)
	}
}

// An upload that stands still is not waited for, guarded or not: strangers could
// fill the memory with halves. Nothing of it is executed.
func TestStalledUpload(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "Idempotency-Key: k-1\r\n"} {
		up, _ := recorder(t)
		g := start(t, up.URL, "--body-timeout=100ms")
		conn, in := g.dial()
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+key+"Content-Length: 6\r\n\r\nabc")
		conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // half of the default: only a failing test gets there
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(res.Body); res.StatusCode != 400 || !strings.Contains(string(body), `"code":"incomplete-body"`) {
			t.Errorf("%q: got %d %s", key, res.StatusCode, body)
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("%q: the connection goes on: %v", key, err)
		}
		up.wantExecuted(t, 0)
		for range 2 { // the deadline of one body is not that of the next answer
			if a := g.post("k-2", "tea"); a.status != 200 {
				t.Errorf("then got %d %s", a.status, a.body)
			}
		}
	}
}
