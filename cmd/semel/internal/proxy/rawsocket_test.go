package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// exchange sends bytes as they are, of which the last request has Connection:
// close, and returns all that comes back.
func (g *gateway) exchange(wire string) string {
	g.t.Helper()
	conn, in := g.dial()
	io.WriteString(conn, wire)
	conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // only a failing test gets there
	all, err := io.ReadAll(in)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(all)
}

// A present but unusable key never means "run unprotected".
func TestUnusableKeys(t *testing.T) {
	t.Parallel()
	up, _ := recorder(t)
	g := start(t, up.URL)
	for _, lines := range []string{
		"Idempotency-Key: a\r\nIdempotency-Key: b\r\n",
		"Idempotency-Key: a\r\nIdempotency-Key: a\r\n",
		"Idempotency-Key: a\r\nidempotency-key: a\r\n",
		"Idempotency-Key:\r\n",
		"Idempotency-Key: \"a\r\n",
		"Idempotency-Key: a, b\r\n",
		"Idempotency-Key: " + strings.Repeat("k", 256) + "\r\n",
	} {
		got := g.exchange("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n" + lines + "\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, `"code":"invalid-key"`) {
			t.Errorf("%q: got %s", lines, got)
		}
	}
	up.wantExecuted(t, 0)
}

// Where a message ends must not be a matter of opinion: the upstream never sees
// a request that the gateway did not see as one.
func TestNoSmuggling(t *testing.T) {
	t.Parallel()
	const hidden = "POST /hidden HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	for _, tc := range []struct{ name, wire string }{
		{"CL and TE", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"TE and CL", "Transfer-Encoding: chunked\r\nContent-Length: 100\r\n\r\n0\r\n\r\n"},
		{"two CL", "Content-Length: 0\r\nContent-Length: 4\r\n\r\n"},
		{"CL list", "Content-Length: 0, 4\r\n\r\n"},
		{"signed CL", "Content-Length: +0\r\n\r\n"},
		{"obscured TE", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
		{"two TE", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"space before colon", "Content-Length : 4\r\n\r\n"},
		{"folded line", "X: y\r\n Content-Length: 4\r\n\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			up, seen := recorder(t)
			g := start(t, up.URL)
			got := g.exchange("POST /first HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k-1\r\n" + tc.wire + hidden)
			refused := strings.HasPrefix(got, "HTTP/1.1 400 ") || strings.HasPrefix(got, "HTTP/1.1 501 ")
			close(seen)
			var paths []string
			for r := range seen {
				paths = append(paths, r.URL.Path)
				if r.URL.Path == "/first" && r.ContentLength > 0 {
					t.Errorf("the upstream read %d bytes of body", r.ContentLength)
				}
			}
			answers := strings.Count(got, "HTTP/1.1 200 OK")
			if refused && len(paths) != 0 || !refused && answers != len(paths) {
				t.Errorf("%d answers, upstream saw %q:\n%s", answers, paths, got)
			}
		})
	}
}

// HTTP/1.0 has no chunks.
func TestChunksOnHTTP10(t *testing.T) {
	t.Parallel()
	up, _ := recorder(t)
	g := start(t, up.URL)
	got := g.exchange("POST / HTTP/1.0\r\nIdempotency-Key: k-1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nPOST \r\n0\r\n\r\n")
	if n := strings.Count(got, "HTTP/1.0 "); n > 1 {
		t.Errorf("%d answers to one request:\n%s", n, got)
	}
	if up.executed.Load() > 1 {
		t.Errorf("the upstream executed %d requests of one", up.executed.Load())
	}
}

// Values that come back from the upstream, or from the record, cannot add header
// lines.
func TestNoHeaderInjection(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Echo"] = []string{r.Header.Get("X-In")}
	})
	g := start(t, up.URL)
	got := g.exchange("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: k-1\r\nContent-Length: 0\r\nX-In: a\rSet-Cookie: b=c\r\n\r\n")
	if strings.Contains(got, "Set-Cookie: b=c\r\n") && strings.Contains(got, "\rSet-Cookie") {
		t.Errorf("got %q", got)
	}
}

// A client that closes its half while it waits is gone: it gets no answer, least
// of all an empty 200.
func TestHalfClosedClient(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(begun)
		<-r.Context().Done()
	})
	g := start(t, up.URL)
	conn, in := g.dial()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	<-begun
	conn.(interface{ CloseWrite() error }).CloseWrite()
	if got, _ := io.ReadAll(in); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
