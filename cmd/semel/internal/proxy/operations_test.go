package proxy_test

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/semel-go/semel/cmd/semel/internal/proxy"
)

func (g *gateway) admin(path string) (int, string) {
	g.t.Helper()
	r, err := http.NewRequest("GET", "http://"+g.server.AdminAddr()+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	a := do(g.client, r)
	return a.status, a.body
}

// What the metrics are called is an interface: dashboards depend on it.
func TestMetrics(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/dead" {
			drop(w)
		}
	})
	g := start(t, up.URL)
	if _, text := g.admin("/metrics"); !strings.Contains(text, `semel_in_doubt_total{operation="PATCH"} 0`) {
		t.Error("before the first doubt its counter is not there at 0")
	}
	g.post("k-1", "tea")
	g.post("k-1", "tea")
	g.post("k-1", "coffee")
	g.send("POST", "/dead", "k-2", "")
	g.admin("/readyz")
	_, text := g.admin("/metrics")
	for _, want := range []string{
		`semel_claims_total{operation="POST"} 2`,
		`semel_replays_total{operation="POST"} 1`,
		`semel_mismatches_total{operation="POST"} 1`,
		`semel_in_doubt_total{operation="POST"} 1`,
		`semel_finishes_total{operation="POST",state="done"} 1`,
		`semel_finishes_total{operation="POST",state="in-doubt"} 1`,
		`semel_upstream_failures_total{code="upstream-no-answer"} 1`,
		`semel_self_checks_total{result="ok"} 1`,
		`semel_background_saves_pending 0`,
		`semel_purge_lag_seconds 0`,
		`semel_build_info{version="test"} 1`,
		`semel_store_call_seconds_count{call="claim"}`,
		`semel_run_seconds_count{operation="POST"} 2`,
		`semel_result_bytes_total{direction="stored"}`,
		`semel_result_bytes_total{direction="replayed"}`,
		"go_goroutines", "process_cpu_seconds_total",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Keys, principals, paths and bodies stay out of logs and metrics.
func TestNothingPrivateIsTold(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/CANARY-dead":
			drop(w)
		case "/CANARY-cut":
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nCANARY-7\r\n")
		case "/CANARY-nonsense":
			raw(w, "CANARY nonsense\r\n\r\n")
		case "/CANARY-header":
			raw(w, "HTTP/1.1 200 OK\r\nCANARY\r\n\r\n")
		case "/CANARY-chunk":
			raw(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nCANARY\r\n")
		default:
			io.WriteString(w, "CANARY-answer")
		}
	})
	g := start(t, up.URL, "--principal=header:Authorization")
	for _, path := range []string{"/CANARY-live", "/CANARY-dead", "/CANARY-cut", "/CANARY-nonsense", "/CANARY-header", "/CANARY-chunk"} {
		key := `"CANARY-key` + path + `"`
		for range 2 {
			g.send("POST", path+"?CANARY=query", key, "CANARY-body", "Authorization: CANARY-secret")
		}
		g.send("POST", path, key, "CANARY-other", "Authorization: CANARY-secret")
		g.send("POST", path, `"CANARY`, "", "Authorization: CANARY-secret")
	}
	g.admin("/readyz")
	_, metrics := g.admin("/metrics")
	if strings.Contains(metrics, "CANARY") {
		t.Errorf("the metrics tell:\n%s", regexp.MustCompile(`.*CANARY.*`).FindString(metrics))
	}
	g.stop()
	if logs := g.logs.String(); strings.Contains(logs, "CANARY") {
		t.Errorf("the log tells:\n%s", regexp.MustCompile(`.*CANARY.*`).FindString(logs))
	}
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	file := filepath.Join(t.TempDir(), "semel.db")
	g := start(t, up.URL, "--store=sqlite:"+file)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := g.admin(path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _ := g.admin("/other"); status != 404 {
		t.Errorf("/other: %d", status)
	}
}

// A store that does not work any more makes the gateway not ready, and requests
// fail closed.
// Field fault: error on read lets the request through unguarded.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	file := filepath.Join(t.TempDir(), "semel.db")
	g := start(t, up.URL, "--store=sqlite:"+file)
	breakStore(t, file)
	if status, body := g.admin("/readyz"); status != 503 {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, _ := g.admin("/healthz"); status != 200 {
		t.Errorf("/healthz: %d", status)
	}
	a := g.post("k-1", "tea")
	a.want(t, 503, "store-unavailable")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	up.wantExecuted(t, 0)
	if a := g.post("", "tea"); a.status != 200 {
		t.Errorf("an unguarded request needs no store: %d", a.status)
	}
	_, metrics := g.admin("/metrics")
	if !strings.Contains(metrics, `semel_store_errors_total{call="claim"}`) || !strings.Contains(metrics, `semel_self_checks_total{result="failed"} 1`) {
		t.Errorf("got %s", metrics)
	}
}

// A file that was deleted under the gateway still works for it, and would be gone
// after a restart: it is not ready.
func TestDeletedStore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	g := start(t, numbered(t).URL, "--store=sqlite:"+file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if status, body := g.admin("/readyz"); status != 503 || !strings.Contains(body, "the store's file is gone") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if _, text := g.admin("/metrics"); !strings.Contains(text, `semel_self_checks_total{result="failed"} 1`) {
		t.Error("the failed check is not counted")
	}
}

// breakStore drops the tables under a store that is in use.
func breakStore(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	rows.Close()
	if len(tables) == 0 {
		t.Fatal("the store has no tables")
	}
	for _, name := range tables {
		if _, err := db.Exec(`DROP TABLE "` + name + `"`); err != nil {
			t.Fatal(err)
		}
	}
}

// patient is an upstream that begins its one execution and waits to be released.
func patient(t *testing.T) (up *upstream, begun, release chan struct{}) {
	begun, release = make(chan struct{}), make(chan struct{})
	up = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(begun)
		<-release
		io.WriteString(w, "done")
	})
	return up, begun, release
}

// Stopping: the running request finishes, is answered and recorded.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	up, begun, release := patient(t)
	file := "--store=sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	g := start(t, up.URL, file)
	answers := make(chan answer, 1)
	go func() { answers <- g.post("k-1", "tea") }()
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- g.stop() }()
	for { // until the listener is closed
		r, _ := http.NewRequest("GET", g.url, nil)
		if a := do(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, r); a.err != nil {
			break
		}
	}
	if status, body := g.admin("/readyz"); status != 503 || !strings.Contains(body, "stopping") {
		t.Errorf("/readyz while stopping: %d %s", status, body)
	}
	close(release)
	if a := <-answers; a.status != 200 || a.body != "done" {
		t.Errorf("the running request: %+v", a)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if a := start(t, up.URL, file).post("k-1", "tea"); !a.replayed() || a.body != "done" {
		t.Errorf("after a restart: %d %q", a.status, a.body)
	}
	up.wantExecuted(t, 1)
}

// Field fault: client disconnects, result lost, retry runs again.
func TestClientGone(t *testing.T) {
	t.Parallel()
	up, begun, release := patient(t)
	g := start(t, up.URL, "--wait=20s")
	conn, _ := g.dial()
	io.WriteString(conn, "POST /orders HTTP/1.1\r\nHost: "+strings.TrimPrefix(g.url, "http://")+"\r\nIdempotency-Key: k-1\r\nContent-Length: 3\r\n\r\ntea")
	<-begun
	conn.Close()
	answers := make(chan answer, 1)
	go func() { answers <- g.post("k-1", "tea") }()
	close(release)
	if a := <-answers; a.status != 200 || a.body != "done" || !a.replayed() {
		t.Errorf("got %d %q", a.status, a.body)
	}
	up.wantExecuted(t, 1)
}

// The first line says where it listens, what it guards and which store it uses.
func TestFirstLine(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := start(t, up.URL, "--principal=header:Authorization")
	first, rest, _ := strings.Cut(g.logs.String(), "\n")
	for _, want := range []string{"listening on " + g.url + ", guarding POST, PATCH of " + up.URL + ", records in memory", `"principal":"header:Authorization"`, `"on-unknown":"hold"`} {
		if !strings.Contains(first, want) {
			t.Errorf("missing %q in %s", want, first)
		}
	}
	for _, want := range []string{"a refreshed bearer token is a new scope", "lost when the process ends"} {
		if !strings.Contains(rest, want) {
			t.Errorf("missing %q in %s", want, rest)
		}
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	busy := numbered(t)
	addr := strings.TrimPrefix(busy.URL, "http://")
	for _, tc := range []struct{ flag, want string }{
		{"--listen=" + addr, "--listen: "},
		{"--admin=" + addr, "--admin: "},
		{"--store=sqlite:/no/such/folder/semel.db", "/no/such/folder/semel.db: no such file or directory; make the folder /no/such/folder first"},
		{"--secret-file=/no/such/file", "--secret-file: "},
		{"--tls-cert=/no/such/file --tls-key=/no/such/file", "--tls-cert, --tls-key: "},
	} {
		cfg := read(t, "http://192.0.2.1", strings.Fields(tc.flag))
		server, err := proxy.Start(t.Context(), cfg, "test", slog.New(slog.DiscardHandler))
		if err == nil {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			server.Run(ctx)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.flag, err, tc.want)
		}
	}
}
