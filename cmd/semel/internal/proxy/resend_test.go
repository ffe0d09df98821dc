package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// droppingUpstream keeps its connections open, and closes one without an answer
// after it has executed its second request.
type droppingUpstream struct {
	url      string
	mu       sync.Mutex
	executed []int // by connection: how many requests
}

func newDroppingUpstream(t *testing.T) *droppingUpstream {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &droppingUpstream{url: "http://" + listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { u.serve(conn) })
		}
	})
	t.Cleanup(func() { listener.Close(); running.Wait() })
	return u
}

func (u *droppingUpstream) serve(conn net.Conn) {
	defer conn.Close()
	u.mu.Lock()
	index := len(u.executed)
	u.executed = append(u.executed, 0)
	u.mu.Unlock()
	in := bufio.NewReader(conn)
	for range 2 {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		u.mu.Lock()
		u.executed[index]++
		n := u.executed[index]
		u.mu.Unlock()
		if n == 1 {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

func (u *droppingUpstream) total() (connections, requests int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, n := range u.executed {
		requests += n
	}
	return len(u.executed), requests
}

// net/http's transport sends a request with an Idempotency-Key and no body a
// second time when a reused connection dies. An upstream that executes and then
// drops the connection must see it once.
func TestHiddenResend(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, method, header string
		status               int
	}{
		{"guarded POST", "POST", "Idempotency-Key: k-1", 504},
		{"unguarded PUT with a key", "PUT", "Idempotency-Key: k-1", 504},
		{"unguarded POST with the older name", "POST", "X-Idempotency-Key: k-1", 504},
		{"guarded POST with both names", "POST", "Idempotency-Key: k-1\nX-Idempotency-Key: k-1", 504},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			up := newDroppingUpstream(t)
			g := start(t, up.url, "--upstream-idle-timeout=20s")
			header := strings.Split(tc.header, "\n")
			warmUp := "Idempotency-Key: warm-up" // over the connection that the next one reuses
			if tc.name == "unguarded POST with the older name" {
				warmUp = "X-Warm-Up: 1"
			}
			if a := g.send(tc.method, "/orders", "", "", warmUp); a.status != 200 {
				t.Fatalf("warm-up: %+v", a)
			}
			if a := g.send(tc.method, "/orders", "", "", header...); a.status != tc.status {
				t.Errorf("got %d %s", a.status, a.body)
			}
			connections, requests := up.total()
			if connections != 1 || requests != 2 {
				t.Errorf("%d requests on %d connections, want 2 on 1: the transport sent one again", requests, connections)
			}
		})
	}
}
