package semelhttp_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// The callers of the tests. No log line and no answer of the layer may hold their
// names: newWorld checks that for every test.
const (
	alice = "canary-alice"
	bob   = "canary-bob"
	key1  = "canary-key-1"
)

// world is a guarded service behind a real listener.
type world struct {
	t      *testing.T
	store  *faultStore
	engine *semel.Engine
	logs   *syncBuffer
	whole  http.Handler // all layers
	srv    *httptest.Server
	runs   atomic.Int64
}

// setup changes what newWorld builds.
type setup struct {
	http   semelhttp.Options
	engine semel.Options
	outer  func(http.Handler) http.Handler // layers outside
	h2     bool
	config func(*http.Server)
	now    func() time.Time // the store's clock
	on     *faultStore      // the store of another world
}

func newWorld(t *testing.T, s *setup, handler http.HandlerFunc) *world {
	t.Helper()
	if s == nil {
		s = &setup{}
	}
	w := &world{t: t, logs: new(syncBuffer)}
	if w.store = s.on; w.store == nil {
		w.store = newFaultStore(t, s.now)
	}
	logger := slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.engine.Logger, s.http.Logger = logger, logger
	engine, err := semel.New(w.store, &s.engine)
	if err != nil {
		t.Fatal(err)
	}
	w.engine = engine
	guard, err := semelhttp.New(w.engine, semelhttp.HeaderPrincipal("X-User"), &s.http)
	if err != nil {
		t.Fatal(err)
	}
	chain := guard(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.runs.Add(1)
		handler(rw, r)
	}))
	if s.outer != nil {
		chain = s.outer(chain)
	}
	w.whole = chain
	w.srv = serve(t, s, chain)
	t.Cleanup(w.check)
	return w
}

// after is an outer layer that is told of each request when it has been served.
func after(f func(*http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			f(r)
		})
	}
}

func serve(t *testing.T, s *setup, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if s.config != nil {
		s.config(srv.Config)
	}
	if s.h2 {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	} else {
		srv.Start()
	}
	srv.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(srv.Close)
	return srv
}

// check is what must hold at the end of every test: nothing pending, nothing
// said that is nobody's business.
func (w *world) check() {
	w.srv.Close()
	if err := w.engine.Close(context.Background()); err != nil {
		w.t.Errorf("Close: %v", err)
	}
	if logs := w.logs.String(); strings.Contains(logs, "canary") {
		w.t.Errorf("a key, a principal or a body reached the logs:\n%s", logs)
	}
}

// reply is an answer read to its end.
type reply struct {
	*http.Response
	body string
	err  error // of reading the body
}

// change is made to a request before it is sent.
type change func(*http.Request)

func header(name string, values ...string) change {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func as(user string) change { return header("X-User", user) }

func (w *world) request(method, path, body string, changes ...change) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.srv.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", key1)
	r.Header.Set("X-User", alice)
	for _, c := range changes {
		c(r)
	}
	return r
}

func (w *world) post(body string, changes ...change) reply {
	w.t.Helper()
	return w.do(w.request("POST", "/charges", body, changes...))
}

func (w *world) do(r *http.Request) reply {
	w.t.Helper()
	resp, err := w.srv.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return read(resp)
}

// breaks sends a request whose answer has to break off.
func (w *world) breaks(body string, changes ...change) {
	w.t.Helper()
	resp, err := w.srv.Client().Do(w.request("POST", "/charges", body, changes...))
	if err == nil {
		if r := read(resp); r.err == nil {
			w.t.Errorf("got a whole answer: %d %q", r.StatusCode, r.body)
		}
	}
}

func read(resp *http.Response) reply {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{Response: resp, body: string(body), err: err}
}

// ran fails unless the handler ran n times.
func (w *world) ran(n int64) {
	w.t.Helper()
	if got := w.runs.Load(); got != n {
		w.t.Errorf("the handler ran %d times, want %d", got, n)
	}
}

// record returns the record of a key as the store has it.
func (w *world) record(principal, route, key string) semel.Record {
	w.t.Helper()
	rec, err := w.store.Read(w.t.Context(), semel.ReadParams{Key: semelhttp.KeyFor(principal, route, key).ID()})
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

// state fails unless alice's record is in a state.
func (w *world) state(want semel.State) {
	w.t.Helper()
	if got := w.record(alice, "", key1).State; got != want {
		w.t.Errorf("the record is %v, want %v", got, want)
	}
}

// is fails unless the reply has status and body.
func (r reply) is(t *testing.T, status int, body string) {
	t.Helper()
	if r.StatusCode != status || r.body != body || r.err != nil {
		t.Errorf("got %d %q (%v), want %d %q", r.StatusCode, r.body, r.err, status, body)
	}
}

// isProblem fails unless the reply is the layer's own answer with that code.
func (r reply) isProblem(t *testing.T, status int, code string) {
	t.Helper()
	if r.StatusCode != status || !strings.Contains(r.body, `"code":"`+code+`"`) || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got %d %q %v, want the problem %d %s", r.StatusCode, r.body, r.Header, status, code)
	}
	if strings.Contains(r.body, "canary") {
		t.Errorf("the problem tells of a key, a principal or a body: %s", r.body)
	}
}

func (r reply) replayed() bool { return r.Header.Get("Idempotent-Replayed") == "true" }

// replays fails unless again is first once more, marked as a replay.
func replays(t *testing.T, first, again reply) {
	t.Helper()
	if first.replayed() || !again.replayed() {
		t.Errorf("replay marks: first %v, again %v", first.replayed(), again.replayed())
	}
	if again.StatusCode != first.StatusCode || again.body != first.body {
		t.Errorf("replayed %d %q, the first answer was %d %q", again.StatusCode, again.body, first.StatusCode, first.body)
	}
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// faultStore is a store whose methods a test can make fail.
type faultStore struct {
	semel.Store
	ahead                atomic.Int64
	mu                   sync.Mutex
	claim, renew, finish error
	read                 error
	claimed              func()                  // if not nil, is called when a claim got through
	finished             chan semel.FinishParams // if not nil, is told of each finish that got through
}

func newFaultStore(t *testing.T, now func() time.Time) *faultStore {
	t.Helper()
	s := new(faultStore)
	if now == nil {
		now = s.now
	}
	mem, err := memstore.New(&memstore.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	s.Store = mem
	return s
}

// now is the store's clock.
func (s *faultStore) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// lapse lets every lease of the moment end.
func (s *faultStore) lapse() { s.ahead.Add(int64(time.Minute)) }

func (s *faultStore) bend(f func(s *faultStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *faultStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	s.mu.Lock()
	err, claimed := s.claim, s.claimed
	s.mu.Unlock()
	if err != nil {
		return semel.ClaimResult{}, err
	}
	res, err := s.Store.Claim(ctx, p)
	if claimed != nil {
		claimed()
	}
	return res, err
}

func (s *faultStore) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	s.mu.Lock()
	err := s.renew
	s.mu.Unlock()
	if err != nil {
		return semel.RenewResult{}, err
	}
	return s.Store.Renew(ctx, p)
}

func (s *faultStore) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	s.mu.Lock()
	err := s.read
	s.mu.Unlock()
	if err != nil {
		return semel.Record{}, err
	}
	return s.Store.Read(ctx, p)
}

func (s *faultStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	s.mu.Lock()
	err, finished := s.finish, s.finished
	s.mu.Unlock()
	if err != nil {
		return semel.FinishResult{}, err
	}
	res, err := s.Store.Finish(ctx, p)
	if finished != nil && err == nil {
		finished <- p
	}
	return res, err
}

// echo answers 201 with the request's body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
	w.Write(body)
}
