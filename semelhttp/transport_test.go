package semelhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

// link is what lies beneath a transport: it keeps what was sent and answers as a
// test says.
type link struct {
	answer func(n int, r *http.Request) (*http.Response, error)

	mu   sync.Mutex
	sent []sentTry
}

type sentTry struct {
	header http.Header
	body   string
	length int64
	rewind bool // net/http could open the body again
	at     time.Time
}

// lowerCase is the header's name as net/http does not know it.
var lowerCase = strings.ToLower("Idempotency-Key")

// key is the key in the header, under either spelling.
func (s sentTry) key() string {
	return strings.Join(append(s.header["Idempotency-Key"], s.header[lowerCase]...), ", ")
}

func (w *link) RoundTrip(r *http.Request) (*http.Response, error) {
	s := sentTry{header: r.Header.Clone(), length: r.ContentLength, rewind: r.GetBody != nil, at: time.Now()}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		s.body = string(body)
	}
	w.mu.Lock()
	w.sent = append(w.sent, s)
	n := len(w.sent)
	w.mu.Unlock()
	return w.answer(n, r)
}

// inTurn gives these answers in turn, and the last one for ever.
func inTurn(all ...func() (*http.Response, error)) func(int, *http.Request) (*http.Response, error) {
	return func(n int, _ *http.Request) (*http.Response, error) { return all[min(n, len(all))-1]() }
}

func withStatus(code int, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) { return answerOf(code, "answer", header...), nil }
}

func answerOf(code int, body string, header ...string) *http.Response {
	resp := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for i := 0; i < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return resp
}

func problemAnswer(code semelhttp.Code) func() (*http.Response, error) {
	return problemWith(semelhttp.NewProblem(code))
}

// problemWith is the answer that the server's side of the package writes.
func problemWith(p semelhttp.Problem) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		w := &memoryWriter{header: http.Header{}}
		semelhttp.WriteProblem(w, p)
		return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(strings.NewReader(w.body)), ContentLength: int64(len(w.body))}, nil
	}
}

type memoryWriter struct {
	header http.Header
	status int
	body   string
}

func (w *memoryWriter) Header() http.Header { return w.header }
func (w *memoryWriter) WriteHeader(s int)   { w.status = s }
func (w *memoryWriter) Write(p []byte) (int, error) {
	w.body += string(p)
	return len(p), nil
}

var errCut = errors.New("connection reset by peer")

func lost() (*http.Response, error) { return nil, errCut }

func newTransport(t *testing.T, base http.RoundTripper, opts *semelhttp.TransportOptions) *semelhttp.Transport {
	t.Helper()
	tr, err := semelhttp.NewTransport(base, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func chargeOf(t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://pay.test/charges", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One key for all tries, identical bytes in each; the caller's request stays as it is.
func TestTransportSendsTheSameAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &link{answer: inTurn(lost, withStatus(503), withStatus(429), problemAnswer(semelhttp.CodeInProgress), withStatus(201))}
		req := chargeOf(t, "ten")
		resp, err := newTransport(t, w, nil).RoundTrip(req)
		if err != nil || resp.StatusCode != 201 || len(w.sent) != 5 {
			t.Fatalf("got %v %v after %d tries, want 201 after 5", resp, err, len(w.sent))
		}
		for i, s := range w.sent {
			if s.key() == "" || s.key() != w.sent[0].key() || s.body != "ten" || s.length != 3 || !s.rewind {
				t.Errorf("try %d: key %q body %q of %d, rewindable %v; the first had key %q", i, s.key(), s.body, s.length, s.rewind, w.sent[0].key())
			}
		}
		if err := semelhttp.KeyUUID(w.sent[0].key()); err != nil {
			t.Error(err)
		}
		if len(req.Header) != 0 {
			t.Errorf("the caller's request was changed: %v", req.Header)
		}
		if got := semelhttp.SentKey(resp); got != w.sent[0].key() {
			t.Errorf("SentKey is %q, sent was %q", got, w.sent[0].key())
		}
	})
}

// What is an answer is returned, and what can change is asked for again.
func TestTransportTellsAnswersFromAbsence(t *testing.T) {
	t.Parallel()
	released := semelhttp.NewProblem(semelhttp.CodeUpstreamNoAnswer)
	released.Retry = semelhttp.RetrySameKey
	foreign := func() (*http.Response, error) {
		return answerOf(409, `{"code":"out-of-stock","title":"Sold out"}`, "Content-Type", "application/problem+json"), nil
	}
	fresh := semelhttp.NewProblem(semelhttp.CodeStoreUnavailable)
	fresh.Retry = semelhttp.RetryNewKey
	cases := []struct {
		name  string
		first func() (*http.Response, error)
		again bool
	}{
		{"no answer", lost, true},
		{"429", withStatus(429), true},
		{"503", withStatus(503), true},
		{"in-progress", problemAnswer(semelhttp.CodeInProgress), true},
		{"overloaded", problemAnswer(semelhttp.CodeOverloaded), true},
		{"store-unavailable", problemAnswer(semelhttp.CodeStoreUnavailable), true},
		{"upstream-unreachable", problemAnswer(semelhttp.CodeUpstreamUnreachable), true},
		{"upstream-no-answer, released", problemWith(released), true},
		{"incomplete-body", problemAnswer(semelhttp.CodeIncompleteBody), true},
		{"201", withStatus(201), false},
		{"400", withStatus(400), false},
		{"401", withStatus(401), false},
		{"409 of the service", withStatus(409), false},
		{"409 of the service with its own code", foreign, false},
		{"422", withStatus(422), false},
		{"500", withStatus(500), false},
		{"502 of some proxy", withStatus(502), false},
		{"503 that was recorded", withStatus(503, "Idempotent-Replayed", "true"), false},
		{"503 that asks for a new key", problemWith(fresh), false},
		{"missing-key", problemAnswer(semelhttp.CodeMissingKey), false},
		{"invalid-key", problemAnswer(semelhttp.CodeInvalidKey), false},
		{"key-reused", problemAnswer(semelhttp.CodeKeyReused), false},
		{"duplicate-content", problemAnswer(semelhttp.CodeDuplicateContent), false},
		{"outcome-unknown", problemAnswer(semelhttp.CodeOutcomeUnknown), false},
		{"result-unavailable", problemAnswer(semelhttp.CodeResultUnavailable), false},
		{"upstream-no-answer, held", problemAnswer(semelhttp.CodeUpstreamNoAnswer), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &link{answer: inTurn(c.first, withStatus(201))}
				resp, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, "ten"))
				if err != nil {
					t.Fatal(err)
				}
				if again := len(w.sent) > 1; again != c.again {
					t.Errorf("sent %d times, got %d; want another try: %v", len(w.sent), resp.StatusCode, c.again)
				}
				if body, err := io.ReadAll(resp.Body); err != nil || len(body) == 0 {
					t.Errorf("the answer's body is %q, %v", body, err)
				}
			})
		})
	}
}

// Only what may change something has a key; the rest passes untouched, and once.
func TestTransportMethods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method string
		opts   *semelhttp.TransportOptions
		ctxKey string
		keyed  bool
	}{
		{method: "POST", keyed: true},
		{method: "PATCH", keyed: true},
		{method: "PUT"},
		{method: "DELETE"},
		{method: "PUT", opts: &semelhttp.TransportOptions{Methods: []string{"PUT"}}, keyed: true},
		{method: "DELETE", ctxKey: "k", keyed: true},
		{method: "POST", opts: &semelhttp.TransportOptions{Methods: []string{"PUT"}}},
		{method: "GET", ctxKey: "k"},
		{method: "HEAD", ctxKey: "k"},
		{method: "OPTIONS", ctxKey: "k"},
	} {
		t.Run(fmt.Sprint(c.method, c.opts, c.ctxKey), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &link{answer: inTurn(withStatus(503), withStatus(200))}
				ctx := t.Context()
				if c.ctxKey != "" {
					ctx = semelhttp.WithKey(ctx, c.ctxKey)
				}
				req, _ := http.NewRequestWithContext(ctx, c.method, "http://pay.test/", nil)
				resp, err := newTransport(t, w, c.opts).RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if keyed := w.sent[0].key() != ""; keyed != c.keyed || (resp.StatusCode == 200) != c.keyed {
					t.Errorf("key %q, status %d; want a key and another try: %v", w.sent[0].key(), resp.StatusCode, c.keyed)
				}
			})
		})
	}
}

func TestTransportLeavesUpgradesAlone(t *testing.T) {
	t.Parallel()
	w := &link{answer: inTurn(withStatus(503))}
	req := chargeOf(t, "")
	req.Header.Set("Upgrade", "websocket")
	if _, err := newTransport(t, w, nil).RoundTrip(req); err != nil || len(w.sent) != 1 || w.sent[0].key() != "" {
		t.Errorf("sent %v, %v; want it once and without a key", w.sent, err)
	}
}

// For servers that ignore keys: one try, and nothing by which net/http would send
// the request again on its own.
func TestTransportSingleTry(t *testing.T) {
	t.Parallel()
	w := &link{answer: inTurn(lost)}
	_, err := newTransport(t, w, &semelhttp.TransportOptions{SingleTry: true}).RoundTrip(chargeOf(t, "ten"))
	noAnswer, ok := errors.AsType[*semelhttp.NoAnswerError](err)
	if !ok || noAnswer.Tries != 1 || len(w.sent) != 1 {
		t.Fatalf("got %v after %d tries, want a NoAnswerError after 1", err, len(w.sent))
	}
	s := w.sent[0]
	if s.rewind || len(s.header["Idempotency-Key"]) != 0 || len(s.header[lowerCase]) != 1 {
		t.Errorf("net/http could send it again: GetBody %v, header %v", s.rewind, s.header)
	}
}

// The key is the caller's if there is one.
func TestTransportKeyOfTheCaller(t *testing.T) {
	t.Parallel()
	send := func(t *testing.T, ctx context.Context, lines ...string) (sentTry, error) {
		w := &link{answer: inTurn(withStatus(200))}
		req := chargeOf(t, "ten").WithContext(ctx)
		if lines != nil {
			req.Header[lowerCase] = lines // any spelling
		}
		_, err := newTransport(t, w, nil).RoundTrip(req)
		if err != nil {
			return sentTry{}, err
		}
		if n := len(w.sent[0].header); n != 1 {
			t.Errorf("%d header lines, want 1: %v", n, w.sent[0].header)
		}
		return w.sent[0], nil
	}
	ctx := semelhttp.WithKey(t.Context(), "from the context")
	for _, c := range []struct {
		name  string
		ctx   context.Context
		lines []string
		want  string // "" for an error
	}{
		{"context", ctx, nil, `"from the context"`},
		{"bare context", semelhttp.WithKey(t.Context(), "order-17"), nil, "order-17"},
		{"header", ctx, []string{"h-1"}, "h-1"},
		{"quoted header", ctx, []string{`"h-1"`}, `"h-1"`},
		{"two lines", ctx, []string{"a", "b"}, ""},
		{"empty", ctx, []string{""}, ""},
		{"broken string", ctx, []string{`"a`}, ""},
		{"too long", ctx, []string{strings.Repeat("k", 256)}, ""},
		{"not ASCII", semelhttp.WithKey(t.Context(), "schlüssel"), nil, ""},
		{"line break", semelhttp.WithKey(t.Context(), "a\r\nX: y"), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := send(t, c.ctx, c.lines...)
			if got := s.key(); got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("sent %q, %v; want %q", got, err, c.want)
			}
			if err != nil && len(c.lines) > 0 && c.lines[0] != "" && strings.Contains(err.Error(), c.lines[0]+" ") {
				t.Errorf("the error quotes the key: %v", err)
			}
		})
	}
}

func TestTransportRefusesContradictions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts semelhttp.TransportOptions
		says string
	}{
		"horizon beyond retention":            {semelhttp.TransportOptions{Horizon: 25 * time.Hour}, "lower Horizon"},
		"horizon beyond a preset's retention": {semelhttp.TransportOptions{Horizon: time.Hour, Preset: presetOf(t, "qonto")}, "lower Horizon"},
		"horizon of one try":                  {semelhttp.TransportOptions{Horizon: time.Minute, SingleTry: true}, "take Horizon out"},
		"backoff":                             {semelhttp.TransportOptions{Backoff: time.Minute, MaxBackoff: time.Second}, "lower it"},
		"try timeout":                         {semelhttp.TransportOptions{TryTimeout: time.Minute}, "no second try"},
		"method":                              {semelhttp.TransportOptions{Methods: []string{"GET"}}, "takes no key"},
		"two places":                          {semelhttp.TransportOptions{Preset: semelhttp.Preset{Header: "K", BodyField: "k"}}, "either"},
		"header name":                         {semelhttp.TransportOptions{Preset: semelhttp.Preset{Header: "no name"}}, "no header name"},
		"keys that are too long":              {semelhttp.TransportOptions{Preset: semelhttp.Preset{Name: "short", Header: "K", MaxLength: 20}}, "NewKey"},
		"negative times":                      {semelhttp.TransportOptions{Horizon: -1, Backoff: -1, TryTimeout: -1, Retention: -1}, "Horizon is negative"},
		"negative sizes":                      {semelhttp.TransportOptions{MaxBody: -1, MaxAnswer: -1}, "MaxBody is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := semelhttp.NewTransport(nil, &c.opts)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}

func presetOf(t *testing.T, name string) semelhttp.Preset {
	t.Helper()
	p, err := semelhttp.FindPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
