package semelhttp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// A flushed answer reaches the client before the handler goes on, and is recorded
// all the same. Before its first byte, the policy was raised.
func TestFlush(t *testing.T) {
	t.Parallel()
	seen := make(chan string)
	var w *world
	w = newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Kind", "live")
		rw.WriteHeader(http.StatusAccepted)
		io.WriteString(rw, "one,")
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Errorf("Flush: %v", err)
		}
		if got := <-seen; got != "one," {
			t.Errorf("the client has %q", got)
		}
		if got := w.record(alice, "", key1).Policy; got != semel.AtMostOnce {
			t.Errorf("live under %v", got)
		}
		rw.Header().Set("X-Late", "no")
		io.WriteString(rw, "two")
	})
	resp, err := w.srv.Client().Do(w.request("POST", "/charges", "b"))
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, part); err != nil {
		t.Fatal(err)
	}
	seen <- string(part)
	first := read(resp)
	first.body = string(part) + first.body
	first.is(t, 202, "one,two")
	again := w.post("b")
	replays(t, first, again)
	if again.Header.Get("X-Kind") != "live" || again.Header.Get("X-Late") != "" {
		t.Errorf("replayed header: %v", again.Header)
	}
	w.ran(1)
}

// Server-sent events come one by one; a retry gets the whole list at once.
func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	received := make(chan struct{})
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(rw, "data: %d\n\n", i)
			rw.(http.Flusher).Flush()
			<-received
		}
	})
	resp, err := w.srv.Client().Do(w.request("POST", "/charges", "b"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		if line, err := lines.ReadString('\n'); line != fmt.Sprintf("data: %d\n", i) {
			t.Fatalf("event %d: %q, %v", i, line, err)
		}
		lines.ReadString('\n')
		received <- struct{}{}
	}
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("after the events: %q, %v", rest, err)
	}
	resp.Body.Close()
	again := w.post("b")
	again.is(t, 200, "data: 0\n\ndata: 1\n\ndata: 2\n\n")
	if got := again.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %q", got)
	}
	w.ran(1)
}

// Field fault: over-size or streamed result dropped, so the work runs again.
func TestOversizeAnswerBecomesATombstone(t *testing.T) {
	t.Parallel()
	const limit = 1 << 10
	body := strings.Repeat("0123456789abcdef", 64)
	writes := map[string]http.HandlerFunc{
		"in one write": func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, body+body+"x") },
		"byte by byte": func(rw http.ResponseWriter, r *http.Request) {
			for _, c := range []byte(body + body + "x") {
				rw.Write([]byte{c})
			}
		},
		"declared": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Length", fmt.Sprint(2*limit+1))
			io.WriteString(rw, body)
			io.WriteString(rw, body+"x")
		},
		"flushed first": func(rw http.ResponseWriter, r *http.Request) {
			rw.(http.Flusher).Flush()
			io.WriteString(rw, body+body+"x")
		},
		"ReadFrom": func(rw http.ResponseWriter, r *http.Request) {
			io.Copy(rw, struct{ io.Reader }{strings.NewReader(body + body + "x")})
		},
	}
	for name, h := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: limit}}, h)
			w.post("b").is(t, 200, body+body+"x")
			again := w.post("b")
			again.isProblem(t, 409, "result-unavailable")
			if !strings.Contains(again.body, `"original_status":200`) {
				t.Errorf("body: %s", again.body)
			}
			w.ran(1)
		})
	}
	t.Run("a header that is too large", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) { rw.Header().Set("X-Long", strings.Repeat("h", 64<<10)) })
		w.post("b").is(t, 200, "")
		w.post("b").isProblem(t, 409, "result-unavailable")
		w.ran(1)
	})
	t.Run("exactly at the limit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: limit}}, func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, body) })
		replays(t, w.post("b"), w.post("b"))
		w.ran(1)
	})
}

// An answer that declares more than can be recorded is not held at all.
func TestDeclaredOversizeIsNotHeld(t *testing.T) {
	t.Parallel()
	out := httptest.NewRecorder()
	w := newWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: 10}}, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", "11")
		io.WriteString(rw, "x")
		if out.Body.String() != "x" {
			t.Errorf("sent so far: %q", out.Body)
		}
		io.WriteString(rw, "0123456789")
	})
	w.whole.ServeHTTP(out, w.request("POST", "/charges", "b"))
	if out.Body.String() != "x0123456789" {
		t.Errorf("sent: %q", out.Body)
	}
}

// The store is down when the answer wants to go live: a Flush holds it back until
// the end, a body over the limit goes out.
func TestStoreDownBeforeLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: 8}}, func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "1234")
		for range 5 {
			if err := http.NewResponseController(rw).Flush(); err != nil {
				t.Errorf("Flush: %v", err)
			}
		}
		if r.URL.RawQuery == "big" {
			io.WriteString(rw, "567890")
		}
	})
	w.store.bend(func(s *faultStore) { s.renew = semel.ErrStoreUnavailable })
	first := w.post("b")
	first.is(t, 200, "1234")
	if first.Header.Get("Content-Length") != "4" {
		t.Error("the answer was not held back")
	}
	if asked := strings.Count(w.logs.String(), "held_back=true"); asked != 3 {
		t.Errorf("5 Flush calls asked the store %d times, want 3: at the 1st, 2nd and 4th", asked)
	}
	replays(t, first, w.post("b"))
	big := w.request("POST", "/charges?big", "b", header("Idempotency-Key", "big"))
	w.do(big).is(t, 200, "1234567890")
	again := w.do(w.request("POST", "/charges?big", "b", header("Idempotency-Key", "big")))
	again.isProblem(t, 409, "result-unavailable")
	w.ran(2)
}

// The client goes in the middle of a stream that is being recorded: the handler
// is not stopped by it, and the retry gets the whole.
func TestClientLeavesALiveAnswer(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "begin")
		rw.(http.Flusher).Flush()
		<-left
		for range 100 {
			if n, err := io.WriteString(rw, strings.Repeat("x", 1<<10)); n != 1<<10 || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
			rw.(http.Flusher).Flush()
		}
	})
	w.store.bend(func(s *faultStore) { s.finished = make(chan semel.FinishParams, 1) })
	resp, conn := w.rawExchange("POST /charges HTTP/1.1\nHost: a\nIdempotency-Key: " + key1 + "\nX-User: " + alice + "\nAccept-Encoding: gzip\nContent-Length: 1\n\nb")
	if resp.StatusCode != 200 {
		t.Fatal(resp.StatusCode)
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
	close(left)
	<-w.store.finished
	again := w.post("b")
	if !again.replayed() || again.body != "begin"+strings.Repeat("x", 100<<10) {
		t.Errorf("got %d bytes of %d", len(again.body), 5+100<<10)
	}
	w.ran(1)
}

// No connection is taken over while the record cannot say so.
// io.Copy and ServeContent are recorded like writes.
func TestReadFrom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.txt")
	content := strings.Repeat("line of a file\n", 1<<13)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1 << 20, 1 << 10} {
		w := newWorld(t, &setup{http: semelhttp.Options{MaxResponseBody: limit}}, func(rw http.ResponseWriter, r *http.Request) {
			if _, ok := rw.(io.ReaderFrom); !ok {
				t.Error("no ReaderFrom")
			}
			http.ServeFile(rw, r, path)
		})
		first := w.post("b")
		first.is(t, 200, content)
		again := w.post("b")
		if limit < len(content) {
			again.isProblem(t, 409, "result-unavailable")
			continue
		}
		replays(t, first, again)
		if again.Header.Get("Last-Modified") == "" || again.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("replayed header: %v", again.Header)
		}
	}
}

// Informational answers pass through at once and are not recorded.
// Field fault: 103 taken for the final status.
func TestEarlyHints(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		hinted := make(chan struct{}, 1)
		w := newWorld(t, &setup{h2: h2}, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Link", "</style.css>; rel=preload")
			rw.WriteHeader(http.StatusEarlyHints)
			<-hinted
			rw.Header().Set("Link", "</final>; rel=self")
			rw.WriteHeader(http.StatusCreated)
			io.WriteString(rw, "done")
		})
		ask := func() (reply, []string) {
			var links []string
			trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				links = append(links, fmt.Sprint(code, h.Get("Link")))
				hinted <- struct{}{}
				return nil
			}}
			req := w.request("POST", "/charges", "b")
			return w.do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace))), links
		}
		first, links := ask()
		first.is(t, 201, "done")
		if len(links) != 1 || links[0] != "103</style.css>; rel=preload" {
			t.Errorf("hints: %q", links)
		}
		again, links := ask()
		replays(t, first, again)
		if len(links) != 0 || again.Header.Get("Link") != "</final>; rel=self" {
			t.Errorf("replayed hints %q, Link %q", links, again.Header.Get("Link"))
		}
		w.ran(1)
	}
}

// Trailers, announced or not, are recorded and replayed.
func TestTrailers(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		for _, flush := range []bool{false, true} {
			w := newWorld(t, &setup{h2: h2}, func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Trailer", "X-Sum, X-Count")
				io.WriteString(rw, "body")
				if flush {
					rw.(http.Flusher).Flush()
				}
				rw.Header().Set("X-Sum", "42")
				rw.Header().Add("X-Count", "1")
				rw.Header().Add("X-Count", "2")
				rw.Header().Set(http.TrailerPrefix+"X-Sudden", "yes")
				rw.Header().Set("X-Late-Header", "no")
			})
			first, again := w.post("b"), w.post("b")
			replays(t, first, again)
			for _, r := range []reply{first, again} {
				got := fmt.Sprint(r.Trailer["X-Sum"], r.Trailer["X-Count"], r.Trailer["X-Sudden"], r.Header["X-Late-Header"])
				if got != "[42] [1 2] [yes] []" {
					t.Errorf("h2 %v, flush %v: trailers %s", h2, flush, got)
				}
			}
			w.ran(1)
		}
	}
}

// Writers of outer layers, which do less than net/http's.
type (
	plainWriter    struct{ http.ResponseWriter }
	unwrapsWriter  struct{ http.ResponseWriter }
	flushingWriter struct {
		http.ResponseWriter
		flushes *int
	}
)

func (w unwrapsWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
func (w flushingWriter) Flush()                     { *w.flushes++ }

// What an outer layer's writer cannot do, the guarded one cannot either: it says so,
// and the answer stays as it would be.
func TestWritersBelow(t *testing.T) {
	t.Parallel()
	flushes := 0
	tests := []struct {
		name      string
		wrap      func(http.ResponseWriter) http.ResponseWriter
		supported bool
	}{
		{"plain", func(w http.ResponseWriter) http.ResponseWriter { return plainWriter{w} }, false},
		{"unwraps", func(w http.ResponseWriter) http.ResponseWriter { return unwrapsWriter{w} }, true},
		{"flushes", func(w http.ResponseWriter) http.ResponseWriter { return flushingWriter{w, &flushes} }, true},
	}
	for _, tt := range tests {
		outer := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(tt.wrap(w), r) })
		}
		w := newWorld(t, &setup{outer: outer}, func(rw http.ResponseWriter, r *http.Request) {
			if err := http.NewResponseController(rw).Flush(); (err == nil) != tt.supported || err != nil && !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("%s: Flush: %v", tt.name, err)
			}
			io.WriteString(rw, "body")
		})
		first := w.post("b")
		first.is(t, 200, "body")
		policy := semel.AtLeastOnce
		if tt.supported {
			policy = semel.AtMostOnce
		}
		if got := w.record(alice, "", key1).Policy; got != policy {
			t.Errorf("%s: the policy is %v", tt.name, got)
		}
		replays(t, first, w.post("b"))
	}
	if flushes != 1 {
		t.Errorf("%d flushes", flushes)
	}
}

// Deadlines reach the connection, and a header that was written goes out before the
// connection is taken over.
// A source that fails ends the copy with its error.
func TestReadFromFailingSource(t *testing.T) {
	t.Parallel()
	failure := errors.New("disk")
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		n, err := rw.(io.ReaderFrom).ReadFrom(io.MultiReader(strings.NewReader("part"), iotest.ErrReader(failure)))
		if n != 4 || !errors.Is(err, failure) {
			t.Errorf("ReadFrom: %d, %v", n, err)
		}
		rw.WriteHeader(http.StatusNoContent) // too late
		n, err = rw.(io.ReaderFrom).ReadFrom(strings.NewReader(""))
		if n != 0 || err != nil {
			t.Errorf("ReadFrom nothing: %d, %v", n, err)
		}
	})
	w.post("b").is(t, 200, "part")
}
