package semelhttp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// describe answers with everything a handler can see of a body.
func describe(w http.ResponseWriter, r *http.Request) {
	announced := len(r.Trailer)
	body, err := io.ReadAll(r.Body)
	n, again := r.Body.Read(make([]byte, 1))
	fmt.Fprintf(w, "%d %v %d %v %d %v %q", r.ContentLength, r.TransferEncoding, announced, err, n, again, body)
	fmt.Fprintf(w, " %v %v", r.Trailer, r.Body == http.NoBody)
	if err := r.Body.Close(); err != nil {
		fmt.Fprint(w, err)
	}
	_, closed := r.Body.Read(make([]byte, 1))
	fmt.Fprintf(w, " %v", closed != nil)
}

// The handler sees the same bytes, lengths and trailers as without Semel.
func TestHandlerSeesTheSameBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30_000) // several blocks
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	trailers := func(r *http.Request) { r.ContentLength = -1; r.Trailer = http.Header{"X-Sum": {"42"}} }
	uploads := map[string]struct {
		body    string
		changes []change
	}{
		"declared": {"body", nil}, "empty": {"", nil}, "long": {long, nil}, "block": {long[:4096], nil}, "long chunked": {long, []change{chunked}},
		"chunked": {"body", []change{chunked}}, "trailers": {"body", []change{trailers}}, "gzip": {"\x1f\x8bnot decoded", []change{header("Content-Encoding", "gzip")}},
	}
	for _, h2 := range []bool{false, true} {
		for name, up := range uploads {
			t.Run(fmt.Sprintf("h2 %v/%s", h2, name), func(t *testing.T) {
				t.Parallel()
				s := setup{h2: h2}
				bare := serve(t, &s, http.HandlerFunc(describe))
				w := newWorld(t, &s, describe)
				req := w.request("POST", "/charges", up.body, up.changes...)
				req.URL.Host = bare.Listener.Addr().String()
				resp, err := bare.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				want, first := read(resp), w.post(up.body, up.changes...)
				// A bare handler of HTTP/1 does not know a trailer before the end.
				if first.body != want.body {
					t.Errorf("the handler saw\n%.200s\nbare:\n%.200s", first.body, want.body)
				}
				replays(t, first, w.post(up.body, up.changes...))
				w.ran(1)
			})
		}
	}
}

// form builds a multipart form with a boundary of its own.
func form(boundary string, edit func(*multipart.Writer)) (string, change) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	m.SetBoundary(boundary)
	m.WriteField("amount", "10")
	part, _ := m.CreateFormFile("receipt", "a.txt")
	io.WriteString(part, "content")
	if edit != nil {
		edit(m)
	}
	m.Close()
	return b.String(), header("Content-Type", m.FormDataContentType())
}

// Each submit of a form makes a new boundary; only what is in the form counts.
func TestMultipartForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		f, head, err := r.FormFile("receipt")
		if err != nil {
			t.Error(err)
			return
		}
		content, _ := io.ReadAll(f)
		fmt.Fprintf(rw, "%s %s %s", r.FormValue("amount"), head.Filename, content)
	})
	body, contentType := form("one", nil)
	first := w.post(body, contentType)
	first.is(t, 200, "10 a.txt content")
	body, contentType = form("another-boundary", nil)
	replays(t, first, w.post(body, contentType))
	body, contentType = form("one", func(m *multipart.Writer) { m.WriteField("more", "") })
	w.post(body, contentType).isProblem(t, 422, "key-reused")
	for _, swap := range [][2]string{{"content", "c0ntent"}, {"a.txt", "b.txt"}, {`"amount"`, `"Amount"`}, {"octet-stream", "octet-strean"}} {
		body, contentType = form("one", nil)
		w.post(strings.Replace(body, swap[0], swap[1], 1), contentType).isProblem(t, 422, "key-reused")
	}
	w.ran(1)
}

// The server removes the files of a parsed form, and outer layers learn the
// pattern, as without Semel.
func TestOuterRequestLearns(t *testing.T) {
	t.Parallel()
	patterns := make(chan string, 1)
	inner := http.NewServeMux()
	var file string
	inner.HandleFunc("POST /charges", func(rw http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(0); err != nil { // everything on disk
			t.Error(err)
		}
		f, _, err := r.FormFile("receipt")
		if err != nil {
			t.Error(err)
			return
		}
		file = f.(*os.File).Name()
	})
	outer := after(func(r *http.Request) { patterns <- r.Pattern })
	w := newWorld(t, &setup{outer: outer}, inner.ServeHTTP)
	body, contentType := form("one", nil)
	w.post(body, contentType).is(t, 200, "")
	w.srv.Close()
	if _, err := os.Stat(file); file == "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file %q: %v", file, err)
	}
	if got := <-patterns; got != "POST /charges" {
		t.Errorf("pattern %q", got)
	}
}

// A form that cannot be read to its end is compared byte by byte.
func TestMalformedForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	body, contentType := form("one", nil)
	cut := body[:len(body)-12]
	first := w.post(cut, contentType)
	first.is(t, 201, cut)
	replays(t, first, w.post(cut, contentType))
	w.post(body[:len(body)-13], contentType).isProblem(t, 422, "key-reused")
	w.post(body, contentType).isProblem(t, 422, "key-reused")
	w.ran(1)
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &setup{http: semelhttp.Options{MaxRequestBody: 10}}, echo)
	head := "POST /charges HTTP/1.1\nHost: a\nX-User: " + alice + "\nIdempotency-Key: " + key1 + "\nExpect: 100-continue\nContent-Length: "
	resp, conn := w.rawExchange(head + "4\n\n")
	if resp.StatusCode != http.StatusContinue {
		t.Fatalf("got %s", resp.Status)
	}
	w.state(semel.StateNone) // the claim comes after the body
	io.WriteString(conn, "body")
	final, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	read(final).is(t, 201, "body")
	resp, _ = w.rawExchange(head + "11\n\n")
	read(resp).isProblem(t, 413, "payload-too-large") // without asking for the body
	w.ran(1)
}

// Field fault (and threat): slow or cut upload holding a claim.
func TestUploadsHoldNothing(t *testing.T) {
	t.Parallel()
	served := make(chan struct{}, 8)
	outer := after(func(r *http.Request) { served <- struct{}{} })
	budget := semelhttp.NewBodyBudget(1 << 20)
	w := newWorld(t, &setup{outer: outer, http: semelhttp.Options{BodyBudget: budget, MaxRequestBody: 1 << 10}}, echo)
	// The server has read the head and waits for the rest when it has answered 100.
	slow, conn := w.rawExchange("POST /charges HTTP/1.1\nHost: a\nX-User: " + alice + "\nIdempotency-Key: " + key1 + "\nExpect: 100-continue\nContent-Length: 4\n\n")
	if slow.StatusCode != http.StatusContinue {
		t.Fatal(slow.Status)
	}
	io.WriteString(conn, "bo")
	w.post("b").is(t, 201, "b") // the key is free meanwhile
	<-served
	conn.Close()
	<-served
	w.ran(1)
	if n := budget.InUse(); n != 0 {
		t.Errorf("%d bytes of the budget are still taken", n)
	}
	w.post("b").is(t, 201, "b")
}

func TestBrokenChunksAreNoBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	resp, _ := w.rawExchange("POST /charges HTTP/1.1\nHost: a\nX-User: " + alice + "\nIdempotency-Key: " + key1 + "\nTransfer-Encoding: chunked\n\nnot-a-size\n")
	r := read(resp)
	r.isProblem(t, 400, "incomplete-body")
	if r.Header.Get("Retry-After") != "1" {
		t.Error("no Retry-After")
	}
	w.ran(0)
	w.state(semel.StateNone)
}

func TestBodyLimits(t *testing.T) {
	t.Parallel()
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	w := newWorld(t, &setup{http: semelhttp.Options{MaxRequestBody: 100_000}}, func(rw http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(rw, n)
	})
	over := strings.Repeat("x", 100_001)
	w.post(over).isProblem(t, 413, "payload-too-large")
	w.post(over, chunked).isProblem(t, 413, "payload-too-large")
	w.post(over[1:], chunked).is(t, 200, "100000") // the key was unused

	outer := func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, 3) }
	limited := newWorld(t, &setup{outer: outer}, echo)
	limited.post("four", chunked).isProblem(t, 413, "payload-too-large")
	limited.ran(0)
}

// 100 bodies meet a budget for a few of them: those are handled, the others are told to
// come again, and nothing is taken beyond the budget. What is left of a body when it is
// refused is no more than net/http reads before it closes the connection, so that each
// client gets to see its answer.
func TestBodyBudget(t *testing.T) {
	t.Parallel()
	const (
		size  = 256 << 10
		limit = 5 * size
	)
	budget := semelhttp.NewBodyBudget(limit)
	entered, leave := make(chan int64, 100), make(chan struct{})
	w := newWorld(t, &setup{http: semelhttp.Options{BodyBudget: budget, MaxRequestBody: size}}, func(rw http.ResponseWriter, r *http.Request) {
		entered <- budget.InUse()
		<-leave
	})
	body := strings.Repeat("x", size)
	replies := make(chan reply, 100)
	for i := range 100 {
		req := w.request("POST", "/charges", body, as(fmt.Sprint("caller", i)))
		go func() {
			resp, err := w.srv.Client().Do(req)
			if err != nil {
				t.Error(err)
				resp = &http.Response{Body: http.NoBody}
			}
			replies <- read(resp)
		}()
	}
	handled := 0
	for range 100 {
		select {
		case used := <-entered:
			handled++
			if used > limit || handled*size > limit {
				t.Errorf("%d bytes are taken by %d handlers", used, handled)
			}
		case r := <-replies:
			r.isProblem(t, 503, "overloaded")
			if r.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	close(leave)
	for range handled {
		if r := <-replies; r.StatusCode != 200 {
			t.Errorf("got %d %s", r.StatusCode, r.body)
		}
	}
	if handled == 0 || budget.InUse() != 0 {
		t.Errorf("%d handled, %d bytes still taken", handled, budget.InUse())
	}
}

// A goroutine that outlives its handler finds the body closed, and never another
// request's bytes.
func TestBodyIsClosedAfterTheHandler(t *testing.T) {
	t.Parallel()
	var body io.ReadCloser
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) { body = r.Body })
	w.post("b")
	if n, err := body.Read(make([]byte, 1)); n != 0 || err != http.ErrBodyReadAfterClose {
		t.Errorf("Read: %d, %v", n, err)
	}
}

// Many callers at once, with bodies and answers of many sizes: memory that is
// used again never mixes them up.
func TestManyCallersKeepTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	const callers = 16
	done := make(chan struct{})
	for caller := range callers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 40 {
				body := strings.Repeat(fmt.Sprintf("%d-%d,", caller, i), 1+i*i*4)
				key := header("Idempotency-Key", fmt.Sprint("k", caller/2, "-", i)) // two callers share each key
				first, again := w.post(body, key, as(fmt.Sprint(caller))), w.post(body, key, as(fmt.Sprint(caller)))
				if first.body != body || again.body != body || first.replayed() || !again.replayed() {
					t.Errorf("caller %d got another answer", caller)
				}
			}
		}()
	}
	for range callers {
		<-done
	}
	w.ran(callers * 40)
}
