package semelhttp_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// ledger is a database of one table and its box: what handlers put down counts when
// it is committed.
type ledger struct {
	store  semel.Store
	losing int   // so many transactions lose against others, after their work
	broken error // of every commit

	mu      sync.Mutex
	records map[semel.KeyID]*semel.Record
	rows    []string
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	store, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &ledger{store: store, records: make(map[semel.KeyID]*semel.Record)}
}

type pageKey struct{}

// put writes a row in the transaction of a handler.
func put(ctx context.Context, row string) {
	page := ctx.Value(pageKey{}).(*[]string)
	*page = append(*page, row)
}

func (l *ledger) Store() semel.Store { return l.store }

func (l *ledger) Defaults() semel.Op { return semel.Op{Retention: time.Hour, Wait: time.Second} }

func (l *ledger) Check(op semel.Op) error {
	if op.Lease != 0 || op.Policy != 0 || op.Detached {
		return errors.New("no lease")
	}
	return nil
}

func (l *ledger) Transact(ctx context.Context, op semel.Op, work func(context.Context) (semel.Verdict, bool)) (*semel.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	recorder, _ := semel.NewRecorder(nil)
	p, _, err := recorder.ClaimOf(op)
	if err != nil {
		return nil, err
	}
	if rec := l.records[p.Key]; rec != nil {
		if rec.Fingerprint != p.Fingerprint {
			return nil, &semel.MismatchError{}
		}
		return rec, nil
	}
	for {
		page := new([]string)
		v, undo := work(context.WithValue(ctx, pageKey{}, page))
		if v.State != semel.StateDone {
			return nil, nil
		}
		if l.losing > 0 {
			l.losing--
			continue
		}
		if l.broken != nil {
			return nil, l.broken
		}
		if !undo {
			l.rows = append(l.rows, *page...)
		}
		l.records[p.Key] = &semel.Record{Key: p.Key, State: semel.StateDone, Fingerprint: p.Fingerprint, Result: v.Result}
		return nil, nil
	}
}

// counter is a service on a ledger.
type counter struct {
	*ledger
	whole http.Handler
	runs  int
}

func newCounter(t *testing.T, opts *semelhttp.Options, handler http.HandlerFunc) *counter {
	t.Helper()
	s := &counter{ledger: newLedger(t)}
	guard, err := semelhttp.Transactional(s.ledger, semelhttp.HeaderPrincipal("X-User"), opts)
	if err != nil {
		t.Fatal(err)
	}
	s.whole = guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.runs++
		handler(w, r)
	}))
	return s
}

func (s *counter) post(key, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.postTo(w, key, body)
	return w
}

func (s *counter) postTo(w http.ResponseWriter, key, body string) {
	r := httptest.NewRequest(http.MethodPost, "/pay", strings.NewReader(body))
	r.Header.Set("X-User", "alice")
	r.Header.Set("Idempotency-Key", key)
	s.whole.ServeHTTP(w, r)
}

func (s *counter) want(t *testing.T, runs int, rows ...string) {
	t.Helper()
	if s.runs != runs || !slices.Equal(s.rows, rows) {
		t.Errorf("%d runs, rows %q; want %d runs, rows %q", s.runs, s.rows, runs, rows)
	}
}

func wantAnswer(t *testing.T, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), body) {
		t.Errorf("answer %d %q; want %d with %q", w.Code, w.Body, status, body)
	}
}

// pay puts a row down and answers with a status.
func pay(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		put(r.Context(), string(body))
		w.Header().Set("Location", "/paid")
		w.WriteHeader(status)
		fmt.Fprintf(w, "answer to %s", body)
	}
}

func TestTransactionCommitsWithItsAnswer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 303} {
		s := newCounter(t, nil, pay(status))
		wantAnswer(t, s.post("k", "10"), status, "answer to 10")
		again := s.post("k", "10")
		wantAnswer(t, again, status, "answer to 10")
		if again.Header().Get("Idempotent-Replayed") != "true" || again.Header().Get("Location") != "/paid" {
			t.Errorf("header %v; want a replay", again.Header())
		}
		wantAnswer(t, s.post("k", "11"), 422, "key-reused")
		s.want(t, 1, "10")
	}
}

func TestTransactionOfARecordedFailureIsUndone(t *testing.T) {
	t.Parallel()
	s := newCounter(t, nil, pay(409))
	wantAnswer(t, s.post("k", "10"), 409, "answer to 10")
	wantAnswer(t, s.post("k", "10"), 409, "answer to 10")
	s.want(t, 1)
}

func TestTransactionOfAnUnrecordedFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 429, 500, 503} {
		s := newCounter(t, nil, pay(status))
		wantAnswer(t, s.post("k", "10"), status, "answer to 10")
		wantAnswer(t, s.post("k", "10"), status, "answer to 10")
		s.want(t, 2)
	}
	s := newCounter(t, &semelhttp.Options{StoreServerErrors: true}, pay(500))
	wantAnswer(t, s.post("k", "10"), 500, "answer to 10")
	wantAnswer(t, s.post("k", "10"), 500, "answer to 10")
	s.want(t, 1)
}

func TestTransactionThatTheHandlerDecides(t *testing.T) {
	t.Parallel()
	cause := errors.New("no")
	for _, c := range []struct {
		said error
		runs int
	}{{semel.Final(cause), 1}, {semel.Retryable(cause), 2}, {semel.InDoubt(cause), 2}} {
		s := newCounter(t, nil, func(w http.ResponseWriter, r *http.Request) {
			semelhttp.Decide(r.Context(), c.said)
			pay(200)(w, r)
		})
		wantAnswer(t, s.post("k", "10"), 200, "answer to 10")
		wantAnswer(t, s.post("k", "10"), 200, "answer to 10")
		s.want(t, c.runs)
	}
}

// A transaction that lost runs its handler again from the same request, and nothing
// that the first try said reaches the client.
func TestTransactionRunsAgain(t *testing.T) {
	t.Parallel()
	var s *counter
	s = newCounter(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(fmt.Sprint("X-Try-", s.runs), "yes")
		pay(200+s.runs)(w, r)
		r.Body.Close()
	})
	s.losing = 2
	w := s.post("k", "10")
	wantAnswer(t, w, 203, "answer to 10")
	if w.Header().Get("X-Try-1") != "" || w.Header().Get("X-Try-3") == "" || strings.Count(w.Body.String(), "answer") != 1 {
		t.Errorf("header %v, body %q; want those of the last try alone", w.Header(), w.Body)
	}
	s.want(t, 3, "10")
}

// What a try has left behind reads the request no more, and takes nothing from the next.
func TestTransactionRunsAgainOnAWholeBody(t *testing.T) {
	t.Parallel()
	var bodies []io.Reader
	s := newCounter(t, nil, func(w http.ResponseWriter, r *http.Request) {
		for i, former := range bodies {
			if text, err := io.ReadAll(former); err == nil {
				t.Errorf("the body of try %d: %q; want an error", i+1, text)
			}
		}
		bodies = append(bodies, r.Body)
		pay(200)(w, r)
	})
	s.losing = 2
	wantAnswer(t, s.post("k", "10"), 200, "answer to 10")
	s.want(t, 3, "10")
}

// The files of a form that a try has parsed go with it.
func TestTransactionRunsAgainWithoutFormerFiles(t *testing.T) {
	t.Parallel()
	var files []string
	s := newCounter(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(0); err != nil {
			t.Error(err)
		}
		f, err := r.MultipartForm.File["scan"][0].Open()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if onDisk, ok := f.(*os.File); ok {
			files = append(files, onDisk.Name())
		}
	})
	s.losing = 1
	form := new(bytes.Buffer)
	m := multipart.NewWriter(form)
	part, err := m.CreateFormFile("scan", "scan.png")
	if err != nil {
		t.Fatal(err)
	}
	part.Write([]byte("scanned"))
	m.Close()
	r := httptest.NewRequest(http.MethodPost, "/pay", form)
	r.Header.Set("X-User", "alice")
	r.Header.Set("Idempotency-Key", "k")
	r.Header.Set("Content-Type", m.FormDataContentType())
	s.whole.ServeHTTP(httptest.NewRecorder(), r)
	if len(files) != 2 || files[0] == files[1] || r.MultipartForm == nil {
		t.Fatalf("files %q, form %v; want one of each try, and the last one's form for the server", files, r.MultipartForm)
	}
	if _, err := os.Stat(files[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of the first try: %v; want none", err)
	}
	if err := r.MultipartForm.RemoveAll(); err != nil {
		t.Error(err)
	}
}

func TestTransactionThatIsNotCommitted(t *testing.T) {
	t.Parallel()
	for _, broken := range []error{errors.New("deferred constraint"), &semel.StoreError{Call: "commit", Err: semel.ErrNoReply}} {
		s := newCounter(t, nil, pay(201))
		s.broken = broken
		w := s.post("k", "10")
		wantAnswer(t, w, 503, "store-unavailable")
		if w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), "answer") || w.Header().Get("Retry-After") == "" {
			t.Errorf("header %v, body %q; nothing of the handler's may go out", w.Header(), w.Body)
		}
		if said := strings.Contains(w.Body.String(), "Nothing was executed"); said == errors.Is(broken, semel.ErrNoReply) {
			t.Errorf("%v: body %q", broken, w.Body)
		}
		s.broken = nil
		wantAnswer(t, s.post("k", "10"), 201, "answer")
		s.want(t, 2, "10")
	}
}

// connection is a writer that can be taken over.
type connection struct{ *httptest.ResponseRecorder }

func (connection) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

func TestTransactionCannotStream(t *testing.T) {
	t.Parallel()
	s := newCounter(t, nil, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_, _, hijacked := control.Hijack()
		if flushed := control.Flush(); !errors.Is(flushed, http.ErrNotSupported) || !errors.Is(hijacked, http.ErrNotSupported) {
			t.Errorf("Flush %v, Hijack %v; want http.ErrNotSupported", flushed, hijacked)
		}
		w.(http.Flusher).Flush()
		pay(200)(w, r)
	})
	w := httptest.NewRecorder()
	s.postTo(connection{w}, "k", "10")
	wantAnswer(t, w, 200, "answer to 10")
	if w.Flushed {
		t.Error("flushed before the commit")
	}
	s.want(t, 1, "10")
}

// Public tracker: an over-size result is dropped, so the work runs again.
func TestTransactionWithALargeAnswer(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 3000)
	for _, copying := range []bool{false, true} {
		s := newCounter(t, &semelhttp.Options{MaxResponseBody: 1000}, func(w http.ResponseWriter, r *http.Request) {
			put(r.Context(), "10")
			if copying {
				_, _ = io.Copy(w, strings.NewReader(large))
				return
			}
			for part := range slices.Chunk([]byte(large), 700) {
				_, _ = w.Write(part)
			}
		})
		if w := s.post("k", "10"); w.Code != 200 || w.Body.String() != large {
			t.Errorf("answer %d of %d bytes; want all of it", w.Code, w.Body.Len())
		}
		wantAnswer(t, s.post("k", "10"), 409, "result-unavailable")
		s.want(t, 1, "10")
	}
}

func TestTransactionOfAPanic(t *testing.T) {
	t.Parallel()
	s := newCounter(t, nil, func(w http.ResponseWriter, r *http.Request) {
		pay(200)(w, r)
		panic("boom")
	})
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v; want the handler's own value", p)
			}
		}()
		r := httptest.NewRequest(http.MethodPost, "/pay", strings.NewReader("10"))
		r.Header.Set("X-User", "alice")
		r.Header.Set("Idempotency-Key", "k")
		s.whole.ServeHTTP(w, r)
	}()
	if len(w.Header()) > 0 || w.Body.Len() > 0 {
		t.Errorf("header %v, body %q; want nothing of the handler's", w.Header(), w.Body)
	}
	s.want(t, 1)
}

func TestTransactionQuotaCountsNewKeys(t *testing.T) {
	t.Parallel()
	s := newCounter(t, &semelhttp.Options{Quota: &semelhttp.Quota{Records: 1}}, pay(200))
	wantAnswer(t, s.post("k", "10"), 200, "answer")
	wantAnswer(t, s.post("l", "11"), 503, "overloaded")
	s.want(t, 1, "10")
	broken := newCounter(t, &semelhttp.Options{Quota: &semelhttp.Quota{Records: 1}}, pay(200))
	broken.broken = errors.New("no")
	wantAnswer(t, broken.post("k", "10"), 503, "store-unavailable")
	broken.broken = nil
	wantAnswer(t, broken.post("l", "11"), 200, "answer")
}

// What was rolled back has no record, and counts for nothing.
func TestTransactionQuotaForgetsWhatWasRolledBack(t *testing.T) {
	t.Parallel()
	s := newCounter(t, &semelhttp.Options{Quota: &semelhttp.Quota{Records: 1}}, func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Idempotency-Key") {
		case "panics":
			panic(http.ErrAbortHandler)
		case "fails":
			pay(500)(w, r)
		default:
			pay(200)(w, r)
		}
	})
	wantAnswer(t, s.post("fails", "10"), 500, "answer")
	func() {
		defer func() { _ = recover() }()
		s.post("panics", "10")
	}()
	wantAnswer(t, s.post("k", "11"), 200, "answer")
	wantAnswer(t, s.post("l", "12"), 503, "overloaded")
}

func TestTransactionDerivesKeys(t *testing.T) {
	t.Parallel()
	s := newCounter(t, &semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: 2 * time.Second}}, pay(200))
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/pay", strings.NewReader("10"))
		r.Header.Set("X-User", "alice")
		w := httptest.NewRecorder()
		s.whole.ServeHTTP(w, r)
		wantAnswer(t, w, 200, "answer to 10")
	}
	s.want(t, 1, "10")
}

func TestTransactionalRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	principal := semelhttp.HeaderPrincipal("X-User")
	for _, c := range []struct {
		box  semelhttp.Transactor
		opts semelhttp.Options
		text string
	}{
		{nil, semelhttp.Options{}, "inbox.New"},
		{newLedger(t), semelhttp.Options{Policy: semel.AtMostOnce}, "no lease"},
		{newLedger(t), semelhttp.Options{Lease: time.Minute}, "no lease"},
		{newLedger(t), semelhttp.Options{Observe: true}, "Observe"},
		{newLedger(t), semelhttp.Options{Derived: &semelhttp.DerivedKey{Window: time.Second}}, "Window"},
		{newLedger(t), semelhttp.Options{Methods: []string{"GET"}}, "Methods"},
	} {
		if _, err := semelhttp.Transactional(c.box, principal, &c.opts); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: error %v; want one that says %q", c.opts, err, c.text)
		}
	}
}
