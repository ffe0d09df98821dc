package security

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
)

const crowd = 1000

// Threat: slow or cut uploads that hold a claim, a connection or memory. While a
// thousand callers have sent half of a request each, others are served, and what
// arrives whole in the end is executed.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	p := start(t, c.URL)
	uploads := make([]*upload, crowd)
	for i := range uploads {
		uploads[i] = dial(t, p, i)
		uploads[i].begin([]byte("half"), []byte("rest"))
	}
	for i := range 100 {
		if status, _ := post(t, p.URL, "honest", fmt.Sprint("good-", i), []byte("good")); status != 200 {
			t.Errorf("a whole request beside slow ones got %d", status)
		}
	}
	if n := c.reached.Load(); n != 100 {
		t.Errorf("the service was reached %d times, by half requests too", n)
	}
	for i, u := range uploads {
		if i%2 == 0 {
			u.conn.Close()
		} else if status, _ := u.finish(); status != 200 {
			t.Errorf("an upload that went on got %d", status)
		}
	}
	for i := range 20 { // the key of a cut upload is unused
		if status, _ := post(t, p.URL, tenant(2*i), "flood", []byte("half"), "Expect: 100-continue"); status != 200 {
			t.Errorf("a cut upload, sent anew, got %d", status)
		}
	}
	if n := c.reached.Load(); n != 100+crowd/2+20 {
		t.Errorf("the service was reached %d times", n)
	}
	wantPeak(t, p, "1,000 slow uploads", 160*mib)
}

// Threat: memory filled by bodies. A thousand bodies of 1 MiB at once are more than
// the budget of 256 MiB: some are handled, the others are told to come again, and come
// through when they do.
func TestManyBodies(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	p := start(t, c.URL)
	body := make([]byte, mib)
	rand.Read(body)
	uploads := make([]*upload, crowd)
	var sent sync.WaitGroup
	for i := range uploads {
		uploads[i] = dial(t, p, i)
		sent.Go(func() { uploads[i].begin(body[:mib-1], body[mib-1:]) })
	}
	sent.Wait()
	for i := range 20 {
		if status, answer := post(t, p.URL, "honest", fmt.Sprint("good-", i), []byte("good")); status != 200 {
			t.Errorf("a small request beside the flood got %d %s", status, answer)
		}
	}
	var handled, refused atomic.Int64
	var answered sync.WaitGroup
	for _, u := range uploads {
		answered.Go(func() {
			switch status, answer := u.finish(); {
			case status == 200:
				handled.Add(1)
			case status == 503 && strings.Contains(answer, `"overloaded"`), status == 0:
				refused.Add(1)
			default:
				t.Errorf("got %d %s", status, answer)
			}
		})
	}
	answered.Wait()
	if handled.Load() == 0 || handled.Load()+20 != c.reached.Load() {
		t.Errorf("%d were handled, the service was reached %d times", handled.Load(), c.reached.Load())
	}
	for i := range 20 {
		if status, answer := post(t, p.URL, tenant(i), "flood", body); status != 200 {
			t.Errorf("sent again it got %d %s", status, answer)
		}
	}
	what := fmt.Sprintf("1,000 bodies of 1 MiB at once (%d handled, %d told to come again)", handled.Load(), refused.Load())
	wantPeak(t, p, what, 768*mib)
}

// counter is a service that counts the requests that reach it.
type counter struct {
	*httptest.Server
	reached atomic.Int64
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		c.reached.Add(1)
	}))
	t.Cleanup(c.Close)
	return c
}

func tenant(i int) string { return fmt.Sprint("tenant-", i) }

// upload is a request that comes in two parts.
type upload struct {
	conn   net.Conn
	tenant string
	rest   []byte
}

func dial(t *testing.T, p *gateway.Process, i int) *upload {
	t.Helper()
	conn, err := net.Dial("tcp", address(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute)) // only a failing test gets there
	return &upload{conn: conn, tenant: tenant(i)}
}

// begin sends the head of the request and a part of its body. If it is refused
// already, finish learns of it.
func (u *upload) begin(part, rest []byte) {
	u.rest = rest
	fmt.Fprintf(u.conn, "POST / HTTP/1.1\r\nHost: shop\r\nX-Tenant: %s\r\nIdempotency-Key: flood\r\nContent-Length: %d\r\n\r\n", u.tenant, len(part)+len(rest))
	u.conn.Write(part)
}

// finish sends what is left and returns the answer; zeros if the connection breaks.
func (u *upload) finish() (status int, answer string) {
	defer u.conn.Close()
	u.conn.Write(u.rest)
	res, err := http.ReadResponse(bufio.NewReader(u.conn), nil)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(data)
}
