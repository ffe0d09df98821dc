package security

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// The numbers in them are replaced by those of the case.
const (
	first  = "POST /first-00 HTTP/1.1\r\nHost: shop\r\nX-Tenant: alice\r\nIdempotency-Key: k-1-00\r\n"
	hidden = "POST /hidden-00 HTTP/1.1\r\nHost: shop\r\nX-Tenant: mallory\r\nIdempotency-Key: k-2-00\r\nContent-Length: 0\r\n\r\n"
	last   = "GET /last-00 HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n"
)

// attack is one request, or what a careless parser takes for one or for two.
type attack struct{ name, wire string }

// on numbers the requests of a case and closes the connection after them.
func (a attack) on(no string) string { return strings.ReplaceAll(a.wire+last, "-00", no) }

// Of these there is one clear reading: they are executed once.
var readable = []attack{
	{"TE on HTTP/1.0", strings.Replace(first, "HTTP/1.1", "HTTP/1.0", 1) + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden},
	{"two equal CL", first + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody"},
	{"folded header", first + "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nbody"},
	{"TE in capitals", first + "Transfer-Encoding: CHUNKED\r\n\r\n4\r\nbody\r\n0\r\n\r\n"},
	{"TE and space", first + "Transfer-Encoding: chunked \r\n\r\n4\r\nbody\r\n0\r\n\r\n"},
	{"chunk extension", first + "Transfer-Encoding: chunked\r\n\r\n4;a=\"b\"\r\nbody\r\n0;c\r\n\r\n"},
	{"bare LF", strings.ReplaceAll(first, "\r\n", "\n") + "Content-Length: 4\n\nbody"},
	{"key name with underscore", first + "Idempotency_Key: k-2-00\r\nContent-Length: 4\r\n\r\nbody"},
	{"key in the trailer", first + "Trailer: Idempotency-Key\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nIdempotency-Key: k-2-00\r\n\r\n"},
	{"principal in the trailer", first + "Trailer: X-Tenant\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Tenant: mallory\r\n\r\n"},
	{"undeclared trailer", first + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Tenant: mallory\r\n\r\n"},
	{"target on another host", strings.Replace(first, "/first-00", "http://elsewhere.example/first-00", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"target with user", strings.Replace(first, "/first-00", "http://shop@elsewhere.example/first-00", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"target with two slashes", strings.Replace(first, "/first-00", "//elsewhere.example/first-00", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"Connection names the key", first + "Connection: Idempotency-Key\r\nContent-Length: 4\r\n\r\nbody"},
	{"Connection names the principal", first + "Connection: X-Tenant\r\nContent-Length: 4\r\n\r\nbody"},
	{"Connection names CL", first + "Connection: Content-Length\r\nContent-Length: 4\r\n\r\nbody"},
	{"Connection names Host", first + "Connection: Host, X-Forwarded-For\r\nContent-Length: 4\r\n\r\nbody"},
	{"h2c and more", first + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c, x\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nContent-Length: 4\r\n\r\nbody"},
	{"upgrade", first + "Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 4\r\n\r\nbody"},
	{"Proxy-Connection", first + "Proxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody"},
	{"Expect", first + "Expect: 100-continue\r\nContent-Length: 4\r\n\r\nbody"},
	{"HTTP/1.2", strings.Replace(first, "HTTP/1.1", "HTTP/1.2", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"method override", first + "X-HTTP-Method-Override: GET\r\nContent-Length: 4\r\n\r\nbody"},
}

// These have no clear reading, or say nothing that a gateway may pass on.
var unreadable = []attack{
	{"TE and CL", first + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n74\r\n" + hidden + "\r\n0\r\n\r\n"},
	{"two CL", first + "Content-Length: 0\r\nContent-Length: 4\r\n\r\nbody"},
	{"CL list", first + "Content-Length: 4, 4\r\n\r\nbody"},
	{"CL with sign", first + "Content-Length: +4\r\n\r\nbody"},
	{"CL in hex", first + "Content-Length: 0x4\r\n\r\nbody"},
	{"CL too great", first + "Content-Length: 18446744073709551620\r\n\r\nbody"},
	{"folded TE", first + "Content-Length: 4\r\nTransfer-Encoding:\r\n chunked\r\n\r\nbody"},
	{"TE and vertical tab", first + "Transfer-Encoding: \x0bchunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"},
	{"space before the colon of TE", first + "Transfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\nbody"},
	{"xchunked", first + "Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n\r\nbody"},
	{"identity", first + "Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nbody"},
	{"chunked, identity", first + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"},
	{"gzip, chunked", first + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
	{"two TE", first + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"quoted TE", first + "Transfer-Encoding: \"chunked\"\r\nContent-Length: 4\r\n\r\nbody"},
	{"chunk extension with a bare LF", first + "Transfer-Encoding: chunked\r\n\r\n4;a\nbody\r\n0\r\n\r\n"},
	{"chunk size of two kinds", first + "Transfer-Encoding: chunked\r\n\r\n0x4\r\nbody\r\n0\r\n\r\n"},
	{"chunk size too great", first + "Transfer-Encoding: chunked\r\n\r\n10000000000000004\r\nbody\r\n0\r\n\r\n"},
	{"negative chunk", first + "Transfer-Encoding: chunked\r\n\r\n-4\r\nbody\r\n0\r\n\r\n"},
	{"chunk longer than said", first + "Transfer-Encoding: chunked\r\n\r\n4\r\nbodyPOST /hidden HTTP/1.1\r\n0\r\n\r\n"},
	{"bare LF before a header", first + "X: y\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nbody"},
	{"bare CR", first + "X: y\rTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nbody"},
	{"NUL in a value", first + "X: y\x00z\r\nContent-Length: 4\r\n\r\nbody"},
	{"NUL in a name", first + "X\x00Y: z\r\nContent-Length: 4\r\n\r\nbody"},
	{"NUL in the key", strings.Replace(first, "k-1", "k\x00-1", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"two keys", first + "Idempotency-Key: k-1-00\r\nContent-Length: 4\r\n\r\nbody"},
	{"two keys in two cases", first + "idempotency-KEY: k-2-00\r\nContent-Length: 4\r\n\r\nbody"},
	{"CL in the trailer", first + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nContent-Length: 0\r\n\r\n"},
	{"target without slash", strings.Replace(first, "/first-00", "first-00", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"two Hosts", first + "Host: elsewhere\r\nContent-Length: 4\r\n\r\nbody"},
	{"no Host", strings.Replace(first, "Host: shop\r\n", "", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"Host with a path", strings.Replace(first, "Host: shop", "Host: shop/first", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"two principals", first + "X-Tenant: mallory\r\nContent-Length: 4\r\n\r\nbody"},
	{"unknown Expect", first + "Expect: 200-ok\r\nContent-Length: 4\r\n\r\nbody"},
	{"HTTP/0.9", "POST /first-00\r\n\r\n" + hidden},
	{"space in the target", strings.Replace(first, "/first-00", "/first-00 HTTP/1.1 x", 1) + "Content-Length: 4\r\n\r\nbody"},
	{"method with space", " " + first + "Content-Length: 4\r\n\r\nbody"},
	{"header without a name", first + ": x\r\nContent-Length: 4\r\n\r\nbody"},
}

// Threats: request smuggling, and headers stripped by Connection. What reaches the
// upstream has one reading, is what the caller sent once, and carries the caller.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	up := newStrictUpstream(t)
	host := address(start(t, up.url()))
	t.Run("readable", func(t *testing.T) {
		for i, tc := range readable {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				no := fmt.Sprintf("-%02d", i)
				wantStatus(t, exchange(t, host, tc.on(no)), " 200 ", " 100 ")
				if again := exchange(t, host, tc.on(no)); !strings.Contains(again, "\r\nIdempotent-Replayed: true\r\n") {
					t.Errorf("sent again: %s", again)
				}
				up.wantOnce(no)
			})
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		for i, tc := range unreadable {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				no := fmt.Sprintf("-%02d", 50+i)
				wantStatus(t, exchange(t, host, tc.on(no)), " 400 ", " 401 ", " 417 ", " 501 ")
				if got := up.about(no); len(got) > 0 && !strings.HasPrefix(got[0].line, "GET /last") {
					t.Errorf("the upstream got %q", got)
				}
			})
		}
	})
}

// RFC 9112, section 6.3: Transfer-Encoding overrides Content-Length, and what
// follows the last chunk is a request of its own. It is scoped and recorded as one,
// and never a part of the first.
func TestLengthAndChunks(t *testing.T) {
	t.Parallel()
	up := newStrictUpstream(t)
	host := address(start(t, up.url()))
	wire := attack{wire: first + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden}.on("-00")
	for range 2 {
		if got := exchange(t, host, wire); strings.Count(got, " 200 OK\r\n") != 3 {
			t.Errorf("got %s", got)
		}
	}
	if got := up.about("-00"); len(got) != 4 || !got[0].has("X-Tenant: alice") || !got[1].has("X-Tenant: mallory") {
		t.Errorf("the upstream got %q", got)
	}
}

// wantOnce checks that the numbered request came once, from whom it is, with its
// body, and that nothing else came out of that.
func (u *strictUpstream) wantOnce(no string) {
	u.t.Helper()
	var posts []message
	for _, m := range u.about(no) {
		if strings.HasPrefix(m.line, "POST ") {
			posts = append(posts, m)
		}
	}
	if len(posts) != 1 || strings.Contains(posts[0].line, "hidden") {
		u.t.Fatalf("%s: the upstream got %q", no, posts)
	}
	for _, want := range []string{"Host: " + u.Addr().String(), "X-Tenant: alice", "idempotency-key: k-1" + no} {
		if !posts[0].has(want) {
			u.t.Errorf("%s: no %s in %q", no, want, posts[0].head)
		}
	}
	if body := posts[0].body; body != "" && !strings.HasPrefix(body, "body") {
		u.t.Errorf("%s: the body is %q", no, body)
	}
	if strings.Contains(posts[0].head, "h2c") {
		u.t.Errorf("%s: an offer of HTTP/2 reached the upstream: %q", no, posts[0].head)
	}
}

// about returns the messages of a number.
func (u *strictUpstream) about(no string) []message {
	return slices.DeleteFunc(u.messages(), func(m message) bool { return !strings.Contains(m.line, no) })
}

func wantStatus(t *testing.T, got string, statuses ...string) {
	t.Helper()
	line, _, _ := strings.Cut(got, "\r\n")
	if !slices.ContainsFunc(statuses, func(s string) bool { return strings.Contains(line+" ", s) }) {
		t.Errorf("got %q", got)
	}
}

func address(p *gateway.Process) string { return strings.TrimPrefix(p.URL, "http://") }

// exchange sends bytes as they are and returns all that comes back.
func exchange(t *testing.T, host, wire string) string {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second)) // only a failing test gets there
	io.WriteString(conn, wire)                        // refused early, it need not be taken whole
	all, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("no end of the answer to %q: %v; got %q", wire, err, all)
	}
	return string(all)
}
