package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/cli"
)

// serve runs `semel proxy` until the test ends and returns its URL.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	return serveLogged(t, args...).url
}

// served is a gateway that runs as `semel proxy`.
type served struct {
	t     *testing.T
	url   string
	lines chan string // of the log
}

func serveLogged(t *testing.T, args ...string) *served {
	t.Helper()
	logs, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, append([]string{"proxy", "--listen=127.0.0.1:0", "--admin=off", "--log-format=json"}, args...), cli.IO{Err: in})
		in.Close()
	}()
	g := &served{t: t, lines: make(chan string, 1000)}
	go g.read(logs)
	var line struct{ Listen string }
	first := <-g.lines
	if json.Unmarshal([]byte(first), &line) != nil || line.Listen == "" {
		t.Fatalf("the gateway did not start: %s", first)
	}
	g.url = "http://" + line.Listen
	t.Cleanup(func() {
		cancel()
		if got := <-code; got != 0 {
			t.Errorf("semel proxy exited with %d", got)
		}
	})
	return g
}

func (g *served) read(logs io.Reader) {
	defer close(g.lines)
	in := bufio.NewScanner(logs)
	for in.Scan() {
		g.lines <- in.Text()
	}
}

// waitFor waits for a line of the log with text in it.
func (g *served) waitFor(text string) {
	g.t.Helper()
	for line := range g.lines {
		if strings.Contains(line, text) {
			return
		}
	}
	g.t.Fatalf("the log has no line with %q", text)
}

func post(t *testing.T, url, key string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader("amount=42"))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	r.Header.Set("Authorization", "Bearer k1")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// Field fault: an operator cannot find or free a stuck key. Here he finds two
// while the gateway runs, and decides each.
func TestOperatorDecidesDoubts(t *testing.T) {
	t.Parallel()
	var executed atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if executed.Add(1) > 2 {
			io.WriteString(w, "charged")
			return
		}
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			conn.Close()
		}
	}))
	t.Cleanup(service.Close)
	store := "--store=sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	url := serve(t, store, "--upstream="+service.URL, "--principal=header:authorization")
	for _, key := range []string{"happened", "did-not"} {
		if status, body := post(t, url, key); status != 504 {
			t.Fatalf("got %d %s", status, body)
		}
		if status, body := post(t, url, key); status != 409 || !strings.Contains(body, "outcome-unknown") {
			t.Fatalf("got %d %s", status, body)
		}
	}
	doubts := run(t, "", nil, "keys", "list", "--state=in-doubt", "--json", store)
	if n := strings.Count(doubts.out, `"cause":`); n != 2 {
		t.Errorf("%d doubts, want 2: %s", n, doubts.out)
	}
	decide := func(stdin, says string, args ...string) {
		args = append([]string{"keys", "resolve"}, append(args, "--principal="+alice, store, "--yes", "--reason=asked the bank")...)
		run(t, stdin, nil, args...).want(t, 0, says)
	}
	decide("HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\n\r\ncharged by hand", "is settled: retries get the given response, for 24h0m0s", "happened", "--done=-")
	decide("", "is released: the next retry runs the operation", "did-not", "--did-not-happen")
	if status, body := post(t, url, "happened"); status != 201 || body != "charged by hand" {
		t.Errorf("happened: got %d %s", status, body)
	}
	if status, body := post(t, url, "did-not"); status != 200 || body != "charged" {
		t.Errorf("did not happen: got %d %s", status, body)
	}
	if n := executed.Load(); n != 3 {
		t.Errorf("the service executed %d times, want 3", n)
	}
}
