package semelhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// stalled is an upload that has sent a part and sends no more.
type stalled struct {
	part   io.Reader
	stands chan<- struct{} // is told when all of the part was read
	end    <-chan struct{}
}

func (s *stalled) Read(p []byte) (int, error) {
	if n, err := s.part.Read(p); err == nil {
		return n, nil
	}
	s.stands <- struct{}{}
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// stall begins 1,000 uploads and returns when each of them stands or was refused;
// it is told how many stand. They end with the test.
func (w *world) stall(part int, who func(i int) string) (standing int) {
	const uploads = 1000
	stands, end, over := make(chan struct{}), make(chan struct{}), make(chan int, uploads)
	for i := range uploads {
		body := &stalled{strings.NewReader(strings.Repeat("x", part)), stands, end}
		r := w.request("POST", "/charges", "", header("Idempotency-Key", fmt.Sprint("slow", i)), as(who(i)))
		r.Body, r.ContentLength = io.NopCloser(body), -1
		go func() {
			rec := httptest.NewRecorder()
			w.whole.ServeHTTP(rec, r)
			over <- rec.Code
		}()
	}
	refused := 0
	for standing+refused < uploads {
		select {
		case <-stands:
			standing++
		case status := <-over:
			refused++
			if status != http.StatusServiceUnavailable {
				w.t.Errorf("a slow upload got %d", status)
			}
		}
	}
	w.t.Cleanup(func() {
		close(end)
		for range standing {
			<-over
		}
	})
	return standing
}

// A stranger with a thousand stalled uploads has his share, and nobody else has
// less for it.
func TestStalledUploadsAreTheirOwnersLoss(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	budget := semelhttp.NewBodyBudget(limit)
	w := newWorld(t, &setup{http: semelhttp.Options{BodyBudget: budget, MaxRequestBody: 1 << 20}}, echo)
	standing := w.stall(60_000, func(int) string { return "stranger" })
	if used := budget.InUse(); used > limit/4 || standing == 0 {
		t.Errorf("%d stalled uploads of one caller hold %d bytes of %d", standing, used, limit)
	}
	large := strings.Repeat("x", 1<<20)
	w.post(large).is(t, 201, large)
	w.post(large[:60_000], as("stranger"), header("Idempotency-Key", "k")).isProblem(t, 503, "overloaded")
}

// Strangers who use up everything that large bodies may take leave the reserve, and
// cannot take that with small ones.
func TestSmallBodiesHaveAReserve(t *testing.T) {
	t.Parallel()
	budget := semelhttp.NewBodyBudget(8 << 20)
	w := newWorld(t, &setup{http: semelhttp.Options{BodyBudget: budget, MaxRequestBody: 1 << 20}}, echo)
	stranger := func(i int) string { return fmt.Sprint("stranger", i%5) }
	w.stall(60_000, stranger)
	w.stall(100, stranger)
	w.post(strings.Repeat("x", 60_000)).isProblem(t, 503, "overloaded")
	w.post("b").is(t, 201, "b")
}

// Where all callers are one, that one is not held to a share.
func TestGlobalHasTheWholeBudget(t *testing.T) {
	t.Parallel()
	const limit = 8 << 20
	budget := semelhttp.NewBodyBudget(limit)
	w := newWorld(t, &setup{http: semelhttp.Options{BodyBudget: budget, MaxRequestBody: 1 << 20}}, echo)
	w.stall(60_000, func(int) string { return semel.Global })
	if used := budget.InUse(); used < limit/2 || used > limit {
		t.Errorf("%d bytes of %d are taken", used, limit)
	}
}

// Where the body is read before it is known who calls, nobodies share one share.
func TestStalledUnknownCallersHaveOneShare(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	budget := semelhttp.NewBodyBudget(limit)
	o := semelhttp.Options{BodyBudget: budget, MaxRequestBody: 1 << 20, Keys: []semelhttp.KeySource{semelhttp.KeyBody("/id")}}
	w := newWorld(t, &setup{http: o}, echo)
	w.stall(60_000, func(int) string { return "" })
	if used := budget.InUse(); used > limit/4 {
		t.Errorf("stalled uploads of nobody hold %d bytes", used)
	}
	w.post(`{"id":"k"}`).is(t, 201, `{"id":"k"}`)
}

// A stalled upload ends, gives its memory back, and its connection is closed.
func TestStalledUploadsEnd(t *testing.T) {
	t.Parallel()
	served := make(chan struct{}, 1)
	outer := after(func(*http.Request) { served <- struct{}{} })
	budget := semelhttp.NewBodyBudget(4 << 20)
	o := semelhttp.Options{BodyBudget: budget, MaxRequestBody: 1 << 20, BodyTimeout: 20 * time.Millisecond}
	w := newWorld(t, &setup{outer: outer, http: o}, echo)
	for _, framing := range []string{"Content-Length: 4\n\nbo", "Transfer-Encoding: chunked\n\n2\nbo\n"} {
		resp, _ := w.rawExchange("POST /charges HTTP/1.1\nHost: a\nX-User: " + alice + "\nIdempotency-Key: " + key1 + "\n" + framing)
		read(resp).isProblem(t, 400, "incomplete-body")
		if !resp.Close {
			t.Error("the connection stays open")
		}
		if <-served; budget.InUse() != 0 {
			t.Errorf("%d bytes are still taken", budget.InUse())
		}
	}
	w.ran(0)
	w.state(semel.StateNone)
}

// So does one over HTTP/2, whose other streams go on.
func TestStalledStreamsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{h2: true, http: semelhttp.Options{BodyTimeout: 20 * time.Millisecond}}, echo)
	body, sender := io.Pipe()
	defer sender.Close()
	go io.WriteString(sender, "bo")
	req := w.request("POST", "/charges", "")
	req.Body, req.ContentLength = body, 4
	w.do(req).isProblem(t, 400, "incomplete-body")
	w.post("body").is(t, 201, "body")
	w.ran(1)
}

// deadlined tells what deadlines were set.
type deadlined struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlined) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// The deadline is gone before the handler works, and a server that has a shorter one
// of its own keeps it.
func TestBodyDeadlineIsTakenBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options semelhttp.Options
		server  *http.Server
		sets    int
	}{
		{"default", semelhttp.Options{}, &http.Server{}, 2},
		{"longer one of the server", semelhttp.Options{}, &http.Server{ReadTimeout: time.Hour}, 2},
		{"shorter one of the server", semelhttp.Options{}, &http.Server{ReadTimeout: time.Second}, 0},
		{"none", semelhttp.Options{BodyTimeout: -1}, &http.Server{}, 0},
		{"observed only", semelhttp.Options{Observe: true}, &http.Server{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &setup{http: tt.options}, echo)
			r := w.request("POST", "/charges", "b")
			d := &deadlined{ResponseRecorder: httptest.NewRecorder()}
			ctx := context.WithValue(t.Context(), http.ServerContextKey, tt.server)
			w.whole.ServeHTTP(d, r.WithContext(ctx))
			if len(d.set) != tt.sets || tt.sets == 2 && (!d.set[0].After(time.Now()) || !d.set[1].IsZero()) {
				t.Errorf("deadlines %v", d.set)
			}
		})
	}
}
