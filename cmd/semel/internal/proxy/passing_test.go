package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
)

func TestInterimResponsesPass(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.WriteHeader(http.StatusCreated)
	})
	g := start(t, up.URL)
	var hints []string
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		hints = append(hints, fmt.Sprint(code, h.Get("Link")))
		return nil
	}}
	for _, key := range []string{"", "k-1", "k-1"} {
		r, _ := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "POST", g.url, strings.NewReader("tea"))
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		if a := do(g.client, r); a.status != 201 || a.header.Get("Link") != "" {
			t.Errorf("got %d %v (%v)", a.status, a.header, a.err)
		}
	}
	if want := "103</style.css>; rel=preload"; len(hints) != 2 || hints[0] != want || hints[1] != want {
		t.Errorf("interim responses: %q, want one for each execution and none for the replay", hints)
	}
}

func TestTrailersPassBothWays(t *testing.T) {
	t.Parallel()
	sums := make(chan string, 8)
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sums <- r.Trailer.Get("X-Sum")
		w.Header().Set("Trailer", "X-Took")
		io.WriteString(w, "body")
		w.Header().Set("X-Took", "3ms")
	})
	g := start(t, up.URL)
	long := strings.Repeat("tea", 200<<10) // is not read first
	for i, key := range []string{"", "", "k-1", "k-1"} {
		body := []string{long, "tea", "tea", "tea"}[i]
		r, _ := http.NewRequest("POST", g.url, io.MultiReader(strings.NewReader(body))) // of unknown length
		r.Trailer = http.Header{"X-Sum": {"abc"}}
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		if a := do(g.client, r); a.status != 200 || a.body != "body" || a.trailer.Get("X-Took") != "3ms" {
			t.Errorf("request %d: %d %q, trailer %v (%v)", i, a.status, a.body, a.trailer, a.err)
		}
	}
	for range 3 {
		if sum := <-sums; sum != "abc" {
			t.Errorf("request trailer: %q", sum)
		}
	}
	up.wantExecuted(t, 3)
}

// A WebSocket handshake, with a key or without, becomes a tunnel.
func TestUpgradePasses(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := rw.ReadString('\n')
		io.WriteString(conn, "echo "+line)
	})
	g := start(t, up.URL)
	for range 2 {
		conn, in := g.dial()
		fmt.Fprint(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nIdempotency-Key: k-1\r\n\r\n")
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != 101 {
			t.Fatal(res, err)
		}
		io.WriteString(conn, "hello\n")
		if line, err := in.ReadString('\n'); line != "echo hello\n" {
			t.Errorf("%q %v", line, err)
		}
	}
	up.wantExecuted(t, 2)
}

// An offer of HTTP/2 on the same connection must not reach the upstream: what
// follows would pass the gateway by.
func TestHTTP2OfferIsNotPassedOn(t *testing.T) {
	t.Parallel()
	up, seen := recorder(t)
	g := start(t, up.URL)
	a := g.post("k-1", "tea", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")
	if a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	r := <-seen
	for _, name := range []string{"Upgrade", "Connection", "Http2-Settings"} {
		if r.Header.Get(name) != "" {
			t.Errorf("the upstream got %s: %s", name, r.Header.Get(name))
		}
	}
}

func TestConnectionClose(t *testing.T) {
	t.Parallel()
	up, _ := recorder(t)
	g := start(t, up.URL)
	conn, in := g.dial()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: k-1\r\nContent-Length: 0\r\n\r\n")
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 200 || !res.Close {
		t.Fatalf("%+v %v", res, err)
	}
	io.Copy(io.Discard, res.Body)
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("the connection stays open: %v", err)
	}
}

// The gateway follows no redirects: a 303 is the upstream's answer.
func TestRedirectsAreAnswers(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/elsewhere", http.StatusSeeOther)
	})
	g := start(t, up.URL)
	g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range 2 {
		if a := g.post("k-1", "tea"); a.status != 303 || a.header.Get("Location") != "http://192.0.2.1/elsewhere" {
			t.Errorf("got %d %v", a.status, a.header)
		}
	}
	up.wantExecuted(t, 1)
}

func (g *gateway) dial() (net.Conn, *bufio.Reader) {
	g.t.Helper()
	conn, err := net.Dial("tcp", g.server.Addr())
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { conn.Close() })
	return conn, bufio.NewReader(conn)
}

// What is not passed on as an upgrade is guarded, whatever it offers.
func TestOffersAreNoWayAround(t *testing.T) {
	t.Parallel()
	for _, lines := range []string{
		"Connection: upgrade, close\r\nUpgrade: h2c, x\r\n",
		"Connection: upgrade, close\r\nUpgrade: x, h2c\r\n",
		"Connection: upgrade, close\r\nUpgrade: x, y\r\n",
		"Connection: upgrade, close\r\nUpgrade: H2C\r\n",
		"Connection: upgrade, close\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n",
		"Connection: upgrade, close\r\nUpgrade:\r\n",
		"Connection: close\r\nUpgrade: websocket\r\n",
		"Connection: upgrade, close\r\nUpgrade: websocket\r\n",
	} {
		up, seen := recorder(t)
		g := start(t, up.URL)
		for range 2 {
			g.exchange("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "Idempotency-Key: k-1\r\nContent-Length: 0\r\n\r\n")
		}
		up.wantExecuted(t, 1)
		if r := <-seen; r.Header.Get("Upgrade") != "" {
			t.Errorf("%q: the upstream sees Upgrade: %s", lines, r.Header.Get("Upgrade"))
		}
	}
}
