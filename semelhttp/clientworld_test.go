package semelhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
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
	"github.com/semel-go/semel/semeltest"
)

// fastRetries keeps the tests short; what counts is not the time.
func fastRetries() *semelhttp.TransportOptions {
	return &semelhttp.TransportOptions{Backoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond}
}

// till is a service that counts: each execution of an order is one effect.
type till struct {
	mu      sync.Mutex
	effects map[string]int
}

func (l *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	l.mu.Lock()
	l.effects[string(body)]++
	n := l.effects[string(body)]
	l.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "execution %d of %s", n, body)
}

// accidentally puts a proxy that has accidents before a server.
func accidentally(t *testing.T, target string, plan ...semeltest.Accident) string {
	t.Helper()
	proxy, err := semeltest.NewCutProxy(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Next(plan...)
	srv := httptest.NewUnstartedServer(proxy)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.Start()
	t.Cleanup(func() { srv.Close(); proxy.Close() })
	return srv.URL
}

func accidents(n int) []semeltest.Accident {
	kinds := []semeltest.Accident{semeltest.None, semeltest.Drop, semeltest.CutReply, semeltest.CutHalf, semeltest.Double}
	plan := make([]semeltest.Accident, n)
	for i := range plan {
		plan[i] = kinds[rand.IntN(len(kinds))]
	}
	return plan
}

// Whatever the network does: one effect, and the recorded answer reaches the
// client. Callers race, so that connections are shared and reused.
func TestClientThroughAccidents(t *testing.T) {
	t.Parallel()
	l := &till{effects: map[string]int{}}
	w := newWorld(t, &setup{http: semelhttp.Options{Wait: time.Minute}}, l.ServeHTTP)
	url := accidentally(t, w.srv.URL, accidents(300)...)
	client, err := semelhttp.NewClient(&http.Client{Transport: &http.Transport{}}, fastRetries())
	if err != nil {
		t.Fatal(err)
	}
	defer client.HTTP().CloseIdleConnections()
	var all sync.WaitGroup
	for c := range 4 {
		all.Go(func() {
			for i := range 25 {
				w.orderOnce(client, url, fmt.Sprintf("order %d-%d", c, i))
			}
		})
	}
	all.Wait()
	if len(l.effects) != 100 {
		t.Errorf("%d orders were executed, want 100", len(l.effects))
	}
	for order, n := range l.effects {
		if n != 1 {
			t.Errorf("%s was executed %d times", order, n)
		}
	}
}

func (w *world) orderOnce(client *semelhttp.Client, url, order string) {
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", url+"/charges", strings.NewReader(order))
	if err != nil {
		w.t.Error(err)
		return
	}
	req.Header.Set("X-User", alice)
	resp, err := client.Do(req)
	if err != nil {
		w.t.Errorf("%s: %v", order, err)
		return
	}
	if r := read(resp); r.StatusCode != 201 || r.body != "execution 1 of "+order || r.err != nil {
		w.t.Errorf("%s: got %d %q, %v", order, r.StatusCode, r.body, r.err)
	}
}

// A first answer and a replay can be told apart.
func TestClientTellsReplays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, echo)
	for _, c := range []struct {
		accident semeltest.Accident
		replayed bool
	}{{semeltest.None, false}, {semeltest.Drop, false}, {semeltest.CutReply, true}, {semeltest.CutHalf, true}} {
		url := accidentally(t, w.srv.URL, c.accident)
		resp, err := newTransport(t, &http.Transport{DisableKeepAlives: true}, fastRetries()).RoundTrip(w.toward(url, "ten"))
		if err != nil {
			t.Fatal(err)
		}
		if got := semelhttp.Replayed(resp); got != c.replayed {
			t.Errorf("accident %d: replayed %v, want %v", c.accident, got, c.replayed)
		}
		read(resp).is(t, 201, "ten")
	}
}

// toward is a request without a key.
func (w *world) toward(url, body string) *http.Request {
	r := w.request("POST", "/charges", body)
	r.URL.Host = strings.TrimPrefix(url, "http://")
	r.Header.Del("Idempotency-Key")
	return r
}

// The client waits for a running first request and gets its answer.
func TestClientWaitsForTheRunningOne(t *testing.T) {
	t.Parallel()
	started, finish := make(chan struct{}), make(chan struct{})
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		close(started)
		<-finish
		echo(rw, r)
	})
	first := make(chan reply)
	go func() { first <- w.post("ten") }()
	<-started
	var once sync.Once
	told := make(chan struct{})
	base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && resp.StatusCode == 409 {
			once.Do(func() { close(told) })
			resp.Header.Set("Retry-After", "0")
		}
		return resp, err
	})
	second := make(chan reply)
	go func() {
		resp, err := newTransport(t, base, fastRetries()).RoundTrip(w.request("POST", "/charges", "ten"))
		if err != nil {
			t.Error(err)
			second <- reply{Response: &http.Response{}}
			return
		}
		second <- read(resp)
	}()
	<-told
	close(finish)
	replays(t, <-first, <-second)
	w.ran(1)
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// net/http sends a keyed request again by itself when a reused connection dies.
// SingleTry prevents that, also for a request without a body.
func TestSingleTryStopsHiddenResends(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		single bool
		want   int64
	}{{single: true, want: 1}, {single: false, want: 2}} {
		var ran atomic.Int64
		srv := serve(t, &setup{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "POST" && ran.Add(1) == 1 {
				panic(http.ErrAbortHandler) // executed, and the connection dies
			}
		}))
		base := &http.Transport{MaxConnsPerHost: 1}
		tr := newTransport(t, base, &semelhttp.TransportOptions{SingleTry: c.single})
		warm, _ := http.NewRequest("GET", srv.URL, nil)
		if resp, err := tr.RoundTrip(warm); err != nil {
			t.Fatal(err)
		} else {
			read(resp)
		}
		req, _ := http.NewRequest("POST", srv.URL, nil)
		resp, err := tr.RoundTrip(req)
		if err == nil {
			read(resp)
		}
		if (err != nil) != c.single || ran.Load() != c.want {
			t.Errorf("single %v: executed %d times, %v; want %d", c.single, ran.Load(), err, c.want)
		}
		base.CloseIdleConnections()
	}
}

// A certificate that nobody vouches for does not become good by trying again.
func TestTransportDoesNotInsistOnUntrustedServers(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.StartTLS()
	defer srv.Close()
	req, _ := http.NewRequest("POST", srv.URL, nil)
	_, err := newTransport(t, &http.Transport{}, nil).RoundTrip(req)
	if e, ok := errors.AsType[*semelhttp.NoAnswerError](err); !ok || e.Tries != 1 {
		t.Errorf("got %v, want one try", err)
	}
}

// Inside a semel operation a call has the same key on every attempt, and another
// one for each label. Field fault: the attempt number in the derived key.
func TestTransportDerivesKeysInsideOperations(t *testing.T) {
	t.Parallel()
	store, err := memstore.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := semel.New(store, &semel.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(context.Background())
	w := &link{answer: inTurn(withStatus(200))}
	tr := newTransport(t, w, nil)
	call := func(ctx context.Context) string {
		if _, err := tr.RoundTrip(chargeOf(t, "ten").WithContext(ctx)); err != nil {
			t.Fatal(err)
		}
		return w.sent[len(w.sent)-1].key()
	}
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: alice, Operation: "order"}, "17"), Input: semel.NoInput}
	outer := semelhttp.WithKey(t.Context(), "of the caller") // not inherited
	var keys [][]string
	for attempt := range 2 {
		semel.Do(outer, engine, op, func(ctx context.Context) (int, error) {
			keys = append(keys, []string{
				call(semelhttp.WithLabel(ctx, "charge")), call(semelhttp.WithLabel(ctx, "mail")), call(semelhttp.WithKey(ctx, "own")),
			})
			if _, err := tr.RoundTrip(chargeOf(t, "ten").WithContext(ctx)); err == nil || !strings.Contains(err.Error(), "WithLabel") {
				t.Errorf("a call without a label: %v, want an error that says WithLabel", err)
			}
			return attempt, semel.Retryable(errors.New("again"))
		})
	}
	if len(keys) != 2 || keys[0][0] != op.Key.Derive("charge") || keys[0][1] != op.Key.Derive("mail") || keys[0][2] != "own" {
		t.Fatalf("keys %v", keys)
	}
	if keys[0][0] != keys[1][0] || keys[0][1] != keys[1][1] {
		t.Errorf("the second attempt had other keys: %v", keys)
	}
	if call(outer) != `"of the caller"` {
		t.Error("the outer key is lost")
	}
}

// Who has a rule for names gives it once.
func TestTransportLabelsByRule(t *testing.T) {
	t.Parallel()
	store, _ := memstore.New(nil)
	engine, err := semel.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(context.Background())
	w := &link{answer: inTurn(withStatus(200))}
	tr := newTransport(t, w, &semelhttp.TransportOptions{Label: func(r *http.Request) string { return r.URL.Path }})
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: alice}, "18"), Input: semel.NoInput}
	if _, err := semel.Do(t.Context(), engine, op, func(ctx context.Context) (int, error) {
		_, err := tr.RoundTrip(chargeOf(t, "ten").WithContext(ctx))
		return 0, err
	}); err != nil {
		t.Fatal(err)
	}
	if got := w.sent[0].key(); got != op.Key.Derive("/charges") {
		t.Errorf("the key is %q", got)
	}
}
