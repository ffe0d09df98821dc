package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

func newClient(t *testing.T, base http.RoundTripper) *semelhttp.Client {
	t.Helper()
	opts := &semelhttp.TransportOptions{Backoff: 5 * time.Millisecond, MaxBackoff: 100 * time.Millisecond}
	c, err := semelhttp.NewClient(&http.Client{Transport: base}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.HTTP().CloseIdleConnections)
	return c
}

func order(ctx context.Context, url, text string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/orders", strings.NewReader(text))
	if err != nil {
		panic(err) // the address is ours
	}
	req.Header.Set("Authorization", "Bearer alice")
	return req
}

// once sends an order and fails unless the client gets the answer to its only
// execution.
func once(t *testing.T, c *semelhttp.Client, url, text string) {
	t.Helper()
	resp, err := c.Do(order(t.Context(), url, text))
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if want := "execution 1 of " + text; resp.StatusCode != 201 || string(body) != want || err != nil {
		t.Errorf("%s: got %d %q, %v; want 201 %q", text, resp.StatusCode, body, err, want)
	}
}

// all runs some callers at once, each with some orders.
func all(callers, each int, send func(text string)) {
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			for i := range each {
				send(fmt.Sprintf("order %d-%d", c, i))
			}
		})
	}
	group.Wait()
}

// badNetwork stands before target and has n random accidents.
func badNetwork(t *testing.T, target string, n int) string {
	t.Helper()
	proxy, err := semeltest.NewCutProxy(target)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []semeltest.Accident{semeltest.None, semeltest.Drop, semeltest.CutReply, semeltest.CutHalf, semeltest.Double}
	for range n {
		proxy.Next(kinds[rand.IntN(len(kinds))])
	}
	srv := httptest.NewUnstartedServer(proxy)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.Start()
	t.Cleanup(func() { srv.Close(); proxy.Close() })
	return srv.URL
}

// Requests dropped, answers lost, cut in half, requests doubled: each order has
// one effect, and its answer reaches the client.
func TestOrdersThroughABadNetwork(t *testing.T) {
	t.Parallel()
	u, upstreamURL := newUpstream(t)
	g := startGateway(t, upstreamURL, "--wait", "30s")
	url := badNetwork(t, g.url(), 400)
	c := newClient(t, &http.Transport{})
	all(6, 25, func(text string) { once(t, c, url, text) })
	u.each(t, 150)
}

// The gateway is stopped and started again under load; its records are there, and
// clients go on as if nothing had been.
func TestOrdersOverARestart(t *testing.T) {
	t.Parallel()
	u, upstreamURL := newUpstream(t)
	g := startGateway(t, upstreamURL, "--wait", "30s")
	url := badNetwork(t, g.url(), 200)
	c := newClient(t, &http.Transport{})
	done := make(chan struct{})
	answered := make(chan struct{}, 200)
	go func() {
		defer close(done)
		all(4, 30, func(text string) { once(t, c, url, text); answered <- struct{}{} })
	}()
	for range 2 {
		for range 20 {
			<-answered
		}
		g.stop()
		g.start()
	}
	<-done
	u.each(t, 120)
}

// The service comes up late. The gateway has written nothing and says so; the
// client tries until it is there.
func TestOrderBeforeTheServiceIsUp(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	g := startGateway(t, "http://"+address)
	unreachable := make(chan struct{})
	c := newClient(t, noteStatus(502, unreachable))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		once(t, c, g.url(), "order 1")
	}()
	<-unreachable
	u := &upstream{effects: map[string]int{}}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: u}
	go srv.Serve(l)
	defer srv.Close()
	<-sent
	u.each(t, 1)
}

// noteStatus closes seen at the first answer with a status.
func noteStatus(status int, seen chan<- struct{}) http.RoundTripper {
	base := &http.Transport{}
	var first sync.Once
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(r)
		if err == nil && resp.StatusCode == status {
			first.Do(func() { close(seen) })
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The service executes and falls silent: nobody tries again, however often the
// user asks under the key that his intent keeps.
func TestOrderWithoutAnAnswerOfTheService(t *testing.T) {
	t.Parallel()
	u, upstreamURL := newUpstream(t)
	u.silent = true
	g := startGateway(t, upstreamURL)
	c := newClient(t, &http.Transport{})
	var intent semelhttp.Intent
	for i, code := range []semelhttp.Code{semelhttp.CodeUpstreamNoAnswer, semelhttp.CodeOutcomeUnknown, semelhttp.CodeOutcomeUnknown} {
		_, err := intent.Do(c, order(t.Context(), g.url(), "order 1"))
		p, ok := errors.AsType[*semelhttp.ProblemError](err)
		if !ok || p.Code != code || !errors.Is(err, semelhttp.ErrOutcomeUnknown) {
			t.Errorf("ask %d: got %v, want %s", i, err, code)
		}
	}
	u.each(t, 1)
}

// Under --on-unknown retry the gateway releases the key and says same-key.
func TestOrderThatMayRunAgain(t *testing.T) {
	t.Parallel()
	u, upstreamURL := newUpstream(t)
	u.silent = true
	g := startGateway(t, upstreamURL, "--on-unknown", "retry")
	silence := make(chan struct{})
	c := newClient(t, noteStatus(504, silence))
	got := make(chan *http.Response, 1)
	go func() {
		resp, err := c.Do(order(t.Context(), g.url(), "order 1"))
		if err != nil {
			t.Error(err)
		}
		got <- resp
	}()
	<-silence
	u.mu.Lock()
	u.silent = false
	u.mu.Unlock()
	if resp := <-got; resp != nil {
		resp.Body.Close()
		if resp.StatusCode != 201 || semelhttp.Replayed(resp) {
			t.Errorf("got %d, replayed %v", resp.StatusCode, semelhttp.Replayed(resp))
		}
	}
}

// Another order under a used key is refused, and not tried again.
func TestOrderUnderAUsedKey(t *testing.T) {
	t.Parallel()
	u, upstreamURL := newUpstream(t)
	g := startGateway(t, upstreamURL)
	c := newClient(t, &http.Transport{})
	ctx := semelhttp.WithKey(t.Context(), "order 17, with spaces")
	for i, want := range []error{nil, nil, semelhttp.ErrKeyReused} {
		resp, err := c.Do(order(ctx, g.url(), fmt.Sprintf("order %d", i/2)))
		if !errors.Is(err, want) {
			t.Errorf("send %d: got %v, want %v", i, err, want)
		}
		if err == nil {
			if replayed := semelhttp.Replayed(resp); replayed != (i == 1) {
				t.Errorf("send %d: replayed %v", i, replayed)
			}
			resp.Body.Close()
		}
	}
	u.each(t, 1)
}
