package semeltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// Accident is what [CutProxy] does to one request.
type Accident int

// The accidents of a network, as a client meets them.
const (
	// None passes the request on.
	None Accident = iota
	// Drop cuts the client's connection; nothing reaches the target.
	Drop
	// CutReply lets the target execute the request and reads its whole answer, then
	// cuts the client's connection.
	CutReply
	// CutHalf is CutReply after half of the answer's body.
	CutHalf
	// Double sends the request to the target twice at once; the client gets the
	// answer to the first one.
	Double
)

// CutProxy is an [http.Handler] that stands between a client and a target and has
// accidents on order. It may be used concurrently.
type CutProxy struct {
	target *url.URL
	client *http.Client

	mu      sync.Mutex
	planned []Accident
}

// NewCutProxy returns a proxy before the server at target, such as the URL of an
// [net/http/httptest.Server].
func NewCutProxy(target string) (*CutProxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	if u.Host == "" {
		return nil, errors.New("semeltest: the target of the proxy needs scheme and host, such as http://127.0.0.1:8080")
	}
	transport := &http.Transport{DisableCompression: true}
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &CutProxy{target: u, client: &http.Client{Transport: transport, CheckRedirect: noRedirects}}, nil
}

// Next plans accidents for the next requests, one each, after those that are
// planned already. Requests without a plan pass.
func (p *CutProxy) Next(accidents ...Accident) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.planned = append(p.planned, accidents...)
}

// Close frees the connections to the target.
func (p *CutProxy) Close() { p.client.CloseIdleConnections() }

// ServeHTTP is [http.Handler]'s.
func (p *CutProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	accident := p.take()
	body, err := io.ReadAll(r.Body)
	if err != nil || accident == Drop {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	if accident == Double {
		defer p.second(r, body)()
	}
	resp, answer, err := p.send(r, body)
	if err != nil || accident == CutReply {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	if accident == CutHalf {
		_, _ = w.Write(answer[:len(answer)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer) // a client that has gone is the test's business
}

// second sends the request beside the first one; what it returns waits for the
// answer, so that nothing goes on behind the test's back.
func (p *CutProxy) second(r *http.Request, body []byte) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = p.send(r, body) // the first one's answer counts
	}()
	return func() { <-done }
}

// send passes the request on with the body given and reads the whole answer. The
// target does not learn that the client has gone.
func (p *CutProxy) send(r *http.Request, body []byte) (*http.Response, []byte, error) {
	out := &httputil.ProxyRequest{In: r, Out: r.Clone(context.WithoutCancel(r.Context()))}
	out.SetURL(p.target)
	out.Out.RequestURI = ""
	out.Out.Body = io.NopCloser(bytes.NewReader(body))
	out.Out.ContentLength = int64(len(body))
	out.Out.TransferEncoding = nil
	resp, err := p.client.Do(out.Out)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp, answer, err
}

func (p *CutProxy) take() Accident {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.planned) == 0 {
		return None
	}
	next := p.planned[0]
	p.planned = p.planned[1:]
	return next
}
