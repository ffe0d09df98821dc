package semeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"time"
)

// TB is the part of [testing.TB] that is needed here.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
}

// fireTimeout bounds the wait for a final answer.
const fireTimeout = 30 * time.Second

// OnceUnderFire shows that a guarded handler takes effect once. Over a real
// listener it sends request, which carries its idempotency key, twice at once, lets
// clients go before the answer, cuts answers after they were made, closes all
// connections in mid-flight, and retries until there is a final answer. The test
// fails unless effects has grown by exactly one, and all final answers have the same
// status and body.
//
// effects counts what the handler did, such as the charges in its ledger; it must
// be safe to call while the handler runs. handler is complete with its middleware.
// An answer is not final if it is 409, 425, 429 or 503 with a Retry-After.
func OnceUnderFire(t TB, handler http.Handler, request *http.Request, effects func() int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*fireTimeout) // a handler that hangs is reported, too
	defer cancel()
	f, err := newFire(ctx, handler, request)
	if err != nil {
		t.Errorf("semeltest: %v", err)
		return
	}
	defer f.close()
	before := effects()
	f.storm()
	final := f.retry()
	if final {
		for range 3 {
			f.send(f.direct.URL)
		}
		f.running.Wait()
	}
	if n := effects() - before; n != 1 {
		t.Errorf("semeltest: the operation took effect %d times, want once", n)
	}
	if !final {
		t.Errorf("semeltest: no final answer within %v; the last one was %s", fireTimeout, f.last)
	}
	for _, a := range f.finals[min(1, len(f.finals)):] {
		if a != f.finals[0] {
			t.Errorf("semeltest: one caller was answered %s, another one %s", f.finals[0], a)
		}
	}
}

// fire is one run of OnceUnderFire.
type fire struct {
	ctx     context.Context
	request *http.Request
	body    []byte
	direct  *httptest.Server // the handler
	lossy   *httptest.Server // the proxy before it
	proxy   *CutProxy
	arrived chan struct{} // filled once the handler has begun a request
	running sync.WaitGroup

	mu     sync.Mutex
	finals []answer
	last   answer
}

// answer is what a client saw.
type answer struct {
	status int
	body   string
	err    string
	wait   bool // it was told to come again
}

func (a answer) String() string {
	if a.err != "" {
		return "nothing (" + a.err + ")"
	}
	return fmt.Sprintf("%d %.200q", a.status, a.body)
}

func newFire(ctx context.Context, handler http.Handler, request *http.Request) (*fire, error) {
	f := &fire{ctx: ctx, request: request, arrived: make(chan struct{}, 1)}
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, fmt.Errorf("the body of the request cannot be read: %w", err)
		}
		f.body = body
	}
	f.direct = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.running.Add(1)
		defer f.running.Done()
		select {
		case f.arrived <- struct{}{}:
		default: // only the first one is waited for
		}
		handler.ServeHTTP(w, r)
	}))
	proxy, err := NewCutProxy(f.direct.URL)
	if err != nil {
		f.direct.Close()
		return nil, err
	}
	f.proxy, f.lossy = proxy, httptest.NewServer(proxy)
	return f, nil
}

func (f *fire) close() {
	f.lossy.Close()
	f.direct.Close()
	f.proxy.Close()
}

// storm is what happens around the first run: everything at once.
func (f *fire) storm() {
	f.proxy.Next(CutReply, Double, CutHalf, Drop)
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() { f.leave() })
		clients.Go(func() { f.send(f.direct.URL) })
		clients.Go(func() { f.send(f.lossy.URL) })
	}
	<-f.arrived
	f.direct.CloseClientConnections()
	clients.Wait()
	f.send(f.lossy.URL)
	f.send(f.lossy.URL)
}

// leave sends the request and goes as soon as it is written.
func (f *fire) leave() {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }})
	f.sendAs(ctx, f.direct.URL)
}

// retry asks until there is a final answer.
func (f *fire) retry() bool {
	ctx, cancel := context.WithTimeout(f.ctx, fireTimeout)
	defer cancel()
	for {
		if f.sendAs(ctx, f.direct.URL); f.final() {
			return true
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
}

func (f *fire) final() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last.err == "" && !f.last.wait
}

func (f *fire) send(base string) { f.sendAs(f.ctx, base) }

// sendAs sends the request on a connection of its own and notes the answer.
func (f *fire) sendAs(ctx context.Context, base string) {
	a := f.exchange(ctx, base)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = a
	if a.err == "" && !a.wait {
		f.finals = append(f.finals, a)
	}
}

func (f *fire) exchange(ctx context.Context, base string) answer {
	req, err := http.NewRequestWithContext(ctx, f.request.Method, base+f.request.URL.RequestURI(), bytes.NewReader(f.body))
	if err != nil {
		return answer{err: err.Error()}
	}
	req.Header = f.request.Header.Clone()
	req.Host = f.request.Host
	req.GetBody = nil // net/http is not to send it again by itself
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{err: err.Error()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.EOF) {
		return answer{err: err.Error()}
	}
	return answer{status: resp.StatusCode, body: string(body), wait: comeAgain(resp)}
}

func comeAgain(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return resp.Header.Get("Retry-After") != ""
	}
	return false
}
