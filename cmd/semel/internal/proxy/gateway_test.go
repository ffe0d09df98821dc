package proxy_test

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

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/proxy"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// gateway is a running gateway with real listeners.
type gateway struct {
	t      *testing.T
	server *proxy.Server
	url    string
	client *http.Client
	logs   *syncBuffer
	stop   func() error // stops once; the error is Run's
}

// start runs a gateway in front of upstream, by default on a memory store with
// one scope for all. Flags are written as on the command line.
func start(t *testing.T, upstream string, flags ...string) *gateway {
	t.Helper()
	g := &gateway{t: t, logs: &syncBuffer{}, client: newClient(t)}
	server, err := proxy.Start(t.Context(), read(t, upstream, flags), "test", slog.New(slog.NewJSONHandler(g.logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	g.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := g.stop(); err != nil {
			t.Errorf("the gateway did not stop cleanly: %v", err)
		}
	})
	g.server, g.url = server, "http://"+server.Addr()
	return g
}

func read(t *testing.T, upstream string, flags []string) *settings.Proxy {
	t.Helper()
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	settings.AddProxyFlags(fs)
	args := append([]string{"--upstream=" + upstream, "--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--store=memory:", "--principal=global", "--shutdown-timeout=20s"}, flags...)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	cfg, err := settings.Read(fs)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// answer is a whole answer; err is why it is not whole.
type answer struct {
	status  int
	header  http.Header
	trailer http.Header
	body    string
	err     error
}

func (a answer) code() string { return between(a.body, `"code":"`, `"`) }
func (a answer) replayed() bool {
	return a.header.Get("Idempotent-Replayed") == "true"
}

func between(s, left, right string) string {
	_, rest, _ := strings.Cut(s, left)
	middle, _, _ := strings.Cut(rest, right)
	return middle
}

// post sends a keyed POST; header lines are "Name: value".
func (g *gateway) post(key, body string, header ...string) answer {
	g.t.Helper()
	return g.send(http.MethodPost, "/orders", key, body, header...)
}

func (g *gateway) send(method, path, key, body string, header ...string) answer {
	g.t.Helper()
	r, err := http.NewRequest(method, g.url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return do(g.client, r)
}

func do(client *http.Client, r *http.Request) answer {
	res, err := client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, trailer: res.Trailer, body: string(body), err: err}
}

// upstream is a service that counts what it executes.
type upstream struct {
	*httptest.Server
	executed atomic.Int64
}

func newUpstream(t *testing.T, h http.HandlerFunc) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.executed.Add(1)
		h(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) wantExecuted(t *testing.T, n int64) {
	t.Helper()
	if got := u.executed.Load(); got != n {
		t.Errorf("the upstream executed %d times, want %d", got, n)
	}
}

// syncBuffer is a buffer for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (a answer) want(t *testing.T, status int, code string) {
	t.Helper()
	if a.err != nil || a.status != status || a.code() != code {
		t.Errorf("got %d %q (%v), want %d %s\n%s", a.status, a.code(), a.err, status, code, a.body)
	}
}

func TestOncePerKey(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "/orders/7")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "made of "+string(body))
	})
	g := start(t, up.URL)
	first, again := g.post("k-1", "tea"), g.post("k-1", "tea")
	for _, a := range []answer{first, again} {
		if a.status != 201 || a.body != "made of tea" || a.header.Get("Location") != "/orders/7" {
			t.Errorf("got %d %q %v", a.status, a.body, a.header)
		}
	}
	if first.replayed() || !again.replayed() {
		t.Error("exactly the second answer is a replay")
	}
	up.wantExecuted(t, 1)
	g.post("k-1", "coffee").want(t, 422, "key-reused")
	g.post("", "tea")
	up.wantExecuted(t, 2)
}
