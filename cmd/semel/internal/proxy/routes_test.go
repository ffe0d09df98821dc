package proxy_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
	"github.com/semel-go/semel/semelhttp"
)

// startFile runs a gateway with a configuration file.
func startFile(t *testing.T, upstream, text string, flags ...string) *gateway {
	t.Helper()
	return start(t, upstream, append(flags, "--config="+writeFile(t, text))...)
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "semel.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/dead") {
			drop(w)
		}
		if strings.HasSuffix(r.URL.Path, "/broken") {
			w.WriteHeader(500)
		}
	})
	g := startFile(t, up.URL, `
routes:
  - path: /orders/{id}
    methods: [PUT]
    require-key: true
  - path: /orders/{id}
    methods: [DELETE]
    max-request-body: 4B
  - {path: /free/, enabled: false, require-key: true}
  - {path: "/pets/{id}/", enabled: false}
  - {path: /retry/, on-unknown: retry, store-5xx: true}
`)
	g.send("PUT", "/orders/1", "", "x").want(t, 400, "missing-key")
	g.send("DELETE", "/orders/1", "k-1", "12345").want(t, 413, "payload-too-large")
	for _, step := range []struct {
		method, path string
		replayed     bool
		status       int
	}{
		{"PUT", "/orders/1", true, 200},
		{"DELETE", "/orders/2", true, 200},
		{"POST", "/orders/3", true, 200},     // the rule of all others
		{"PUT", "/orders", false, 200},       // no route matches
		{"PUT", "/orders/3/x", false, 200},   // no route matches
		{"PUT", "/x/../orders/4", true, 200}, // as the upstream may read it
		{"POST", "/free/x", false, 200},
		{"POST", "/free", false, 200}, // nobody is redirected
		{"POST", "/pets/1", false, 200},
		{"POST", "/retry/broken", true, 500},
		{"POST", "/broken", false, 500},
	} {
		key := `"` + step.method + step.path + `"`
		g.send(step.method, step.path, key, "x")
		if a := g.send(step.method, step.path, key, "x"); a.replayed() != step.replayed || a.status != step.status {
			t.Errorf("%s %s: %d, replayed %v", step.method, step.path, a.status, a.replayed())
		}
	}
	for _, path := range []string{"/dead", "/retry/dead"} {
		for range 2 {
			g.send("POST", path, `"`+path+`"`, "x")
		}
	}
	g.send("POST", "/dead", `"/dead"`, "x").want(t, 409, "outcome-unknown")
	g.send("POST", "/retry/dead", `"/retry/dead"`, "x").want(t, 504, "upstream-no-answer")
	if _, text := g.admin("/metrics"); !strings.Contains(text, `semel_claims_total{operation="PUT /orders/{id}"} 2`) {
		t.Error("the metrics do not name the route")
	}
	if logs := g.logs.String(); !strings.Contains(logs, "the route POST,PATCH /free/ is not guarded") {
		t.Errorf("the log does not say that a route is switched off: %s", logs)
	}
}

// What a route says of its records is what the store gets.
func TestRouteRecords(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	file := "sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	g := startFile(t, up.URL, "routes:\n  - {path: /ever, name: votes, retention: forever}\n  - {path: /retry, on-unknown: retry, principal: 'header:X-Tenant'}\n", "--store="+file)
	want := map[string]semel.Record{
		"POST votes":  {ExpiresIn: semel.Forever, Policy: semel.AtMostOnce, ScopeID: semel.ScopeIDOf(nil, semel.Global)},
		"POST /retry": {ExpiresIn: 24 * time.Hour, Policy: semel.AtLeastOnce, ScopeID: semel.ScopeIDOf(nil, "header:X-Tenant=red")},
		"POST":        {ExpiresIn: 24 * time.Hour, Policy: semel.AtMostOnce, ScopeID: semel.ScopeIDOf(nil, semel.Global)},
	}
	for _, path := range []string{"/ever", "/retry", "/other"} {
		g.send("POST", path, "k"+path, "x", "X-Tenant: red")
	}
	handle, err := storeurl.OpenExisting(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	page, err := handle.Store.(semel.Lister).List(t.Context(), semel.ListParams{Limit: 10})
	if err != nil || len(page.Records) != len(want) {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	for _, rec := range page.Records {
		w, ok := want[rec.Operation]
		if !ok || rec.Policy != w.Policy || rec.ScopeID != w.ScopeID || rec.ExpiresIn.Round(time.Hour) != w.ExpiresIn.Round(time.Hour) {
			t.Errorf("got %q %v %v %v, want %+v", rec.Operation, rec.Policy, rec.ScopeID, rec.ExpiresIn, w)
		}
	}
}

// A route's own lease, patience and limits.
func TestRouteLimits(t *testing.T) {
	t.Parallel()
	up, begun, release := patient(t)
	file := "sqlite:" + filepath.Join(t.TempDir(), "semel.db")
	g := startFile(t, up.URL, "routes:\n  - {path: /slow, lease: 10m, wait: 1s}\n", "--store="+file)
	answers := make(chan answer, 1)
	go func() { answers <- g.send("POST", "/slow", "k-1", "x") }()
	<-begun
	asked := time.Now()
	g.send("POST", "/slow", "k-1", "x").want(t, 409, "in-progress")
	if waited := time.Since(asked); waited < time.Second {
		t.Errorf("the duplicate waited %v, want 1s", waited)
	}
	handle, err := storeurl.OpenExisting(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	rec, err := handle.Store.Read(t.Context(), semel.ReadParams{Key: semelhttp.KeyFor(semel.Global, "", "k-1").ID()})
	if err != nil || rec.LeaseLeft < 5*time.Minute {
		t.Errorf("the lease has %v left, want nearly 10m (%v)", rec.LeaseLeft, err)
	}
	close(release)
	if a := <-answers; a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestLargeAnswerIsKept(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 3<<20)) })
	g := startFile(t, up.URL, "routes:\n  - {path: /large, max-response-body: 3MiB}\n")
	for _, replayed := range []bool{false, true} {
		if a := g.send("POST", "/large", "k-1", "x"); len(a.body) != 3<<20 || a.replayed() != replayed {
			t.Errorf("got %d, %d bytes, replayed %v", a.status, len(a.body), a.replayed())
		}
	}
	g.send("POST", "/other", "k-2", "x")
	g.send("POST", "/other", "k-2", "x").want(t, 409, "result-unavailable")
}
