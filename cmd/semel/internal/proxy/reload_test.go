package proxy_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// A request that began before the reload ends as it began; the next one meets
// the new rules.
func TestReloadWhileARequestRuns(t *testing.T) {
	t.Parallel()
	up, begun, release := patient(t)
	next := newUpstream(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "next") })
	g := start(t, up.URL)
	answers := make(chan answer, 1)
	go func() { answers <- g.post("k-1", "tea") }()
	<-begun
	cfg := read(t, next.URL, []string{"--require-key"})
	if err := g.server.Reload(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	g.post("", "tea").want(t, 400, "missing-key")
	g.post("k-1", "tea").want(t, 409, "in-progress") // records outlive configurations
	if a := g.post("k-2", "tea"); a.body != "next" {
		t.Errorf("the next request: %d %q", a.status, a.body)
	}
	close(release)
	if a := <-answers; a.status != 200 || a.body != "done" {
		t.Errorf("the running request: %d %q %v", a.status, a.body, a.err)
	}
	if a := g.post("k-1", "tea"); !a.replayed() || a.body != "done" {
		t.Errorf("its retry: %d %q", a.status, a.body)
	}
	up.wantExecuted(t, 1)
}

// Under traffic: no request is dropped by any of many reloads.
func TestReloadDropsNothing(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := start(t, up.URL)
	stop := make(chan struct{})
	failures := make(chan answer, 1)
	ended := make(chan int)
	go func() {
		sent := 0
		for ; ; sent++ {
			select {
			case <-stop:
				ended <- sent
				return
			default:
			}
			if a := g.post("", "tea"); a.err != nil || a.status != 200 {
				select {
				case failures <- a:
				default:
				}
			}
		}
	}()
	for range 50 {
		if err := g.server.Reload(t.Context(), read(t, up.URL, []string{"--lease=7s"})); err != nil {
			t.Error(err)
		}
		g.post("", "tea")
	}
	close(stop)
	if <-ended == 0 {
		t.Error("nothing was sent")
	}
	select {
	case a := <-failures:
		t.Errorf("a request was dropped: %d %v %s", a.status, a.err, a.body)
	default:
	}
}

// What cannot change is named, and is as it was.
func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := start(t, up.URL)
	cfg := read(t, up.URL, []string{"--store=sqlite:/no/such/folder/x.db", "--listen=127.0.0.1:1", "--log-format=json"})
	for range 2 { // still another than what runs
		if err := g.server.Reload(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		cfg = read(t, up.URL, []string{"--store=sqlite:/no/such/folder/x.db"})
	}
	for setting, times := range map[string]int{"store": 2, "listen": 1, "log-format": 1, "admin": 0, "lease": 0} {
		if n := strings.Count(g.logs.String(), `counts after a restart only","setting":"`+setting+`"`); n != times {
			t.Errorf("%s was named %d times, want %d", setting, n, times)
		}
	}
	if a := g.post("k-1", "tea"); a.status != 200 {
		t.Errorf("got %d %v", a.status, a.err)
	}
}

// A key set that cannot be read is no reason to stop where it was read before,
// and one where none was.
func TestReloadOfKeySets(t *testing.T) {
	t.Parallel()
	issuer := newTokens(t)
	up := numbered(t)
	g := start(t, up.URL)
	missing := []string{"--principal=jwt:sub", "--jwks=/no/such/keys.json"}
	if err := g.server.Reload(t.Context(), read(t, up.URL, missing)); err == nil || !strings.Contains(err.Error(), "--jwks: ") {
		t.Errorf("got %v", err)
	}
	if a := g.post("k-1", "tea"); a.status != 200 {
		t.Errorf("the old configuration is gone: %d", a.status)
	}
	if err := g.server.Reload(t.Context(), read(t, up.URL, []string{"--principal=jwt:sub", "--jwks=" + issuer.file})); err != nil {
		t.Fatal(err)
	}
	g.post("k-1", "tea").want(t, 401, "no-principal")
	if err := os.Remove(issuer.file); err != nil {
		t.Fatal(err)
	}
	if err := g.server.Reload(t.Context(), read(t, up.URL, []string{"--principal=jwt:sub", "--jwks=" + issuer.file})); err != nil {
		t.Errorf("the last good keys were given up: %v", err)
	}
	if a := g.post("k-1", "tea", issuer.header("idp", "alice", time.Hour)); a.status != 200 {
		t.Errorf("with the last good keys: %d %s", a.status, a.body)
	}
	_, text := g.admin("/metrics")
	for _, want := range []string{`semel_config_reloads_total{result="failed"} 1`, `semel_config_reloads_total{result="ok"} 2`, `semel_jwks_reads_total{result="failed"} 2`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s", want)
		}
	}
}
