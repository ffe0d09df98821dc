package deploy

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
	_ "modernc.org/sqlite"
)

// eventful lets real gateways go through everything that an alert may be about, and
// returns what they served under /metrics.
func eventful(t *testing.T) samples {
	t.Helper()
	served.Do(func() {
		served.text = heldWorld(t) + lapsingWorld(t)
	})
	return parseSamples(served.text)
}

var served struct {
	sync.Once
	text string
}

// world is a gateway before a service that can be told to hold its answer.
type world struct {
	*testing.T
	*gateway.Process
	db   *sql.DB
	came chan struct{} // a request for /hold is there
	free chan struct{} // it may be answered
	gone chan struct{} // the gateway gave it up
}

func newWorld(t *testing.T, flags ...string) *world {
	w := &world{T: t, came: make(chan struct{}), free: make(chan struct{}), gone: make(chan struct{})}
	service := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(service.Close)
	file := filepath.Join(t.TempDir(), "semel.db")
	w.Process = gateway.Start(t, binary, service.URL, file, flags...)
	var err error
	if w.db, err = sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)"); err != nil {
		t.Fatal(err)
	}
	w.db.SetMaxOpenConns(1)
	t.Cleanup(func() { w.db.Close() })
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/silence":
		panic(http.ErrAbortHandler)
	case "/hold":
		io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
		w.came <- struct{}{}
		select {
		case <-w.free:
		case <-r.Context().Done():
			close(w.gone)
		}
	}
}

func (w *world) post(path, key, body string) int {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Error(err)
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// held begins a request that the service holds; its status comes later.
func (w *world) held(key string) <-chan int {
	status := make(chan int, 1)
	go func() { status <- w.post("/hold", key, "b") }()
	select {
	case <-w.came:
	case code := <-status:
		w.Fatalf("the request %s did not come through: %d", key, code)
	}
	return status
}

func (w *world) exec(statement string) {
	w.Helper()
	if _, err := w.db.ExecContext(w.Context(), statement); err != nil {
		w.Fatal(err)
	}
}

func (w *world) admin(path string) (int, string) {
	w.Helper()
	resp, err := http.Get(w.Admin + path)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// serves waits until /metrics has a line that begins so, and returns the page.
func (w *world) serves(line string) string {
	w.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	late := time.After(time.Minute)
	for {
		_, page := w.admin("/metrics")
		if strings.Contains(page, "\n"+line) {
			return page
		}
		select {
		case <-again.C:
		case <-late:
			w.Fatalf("no line %q in\n%s", line, page)
		}
	}
}

// steal makes somebody else the owner of all running records.
const steal = "UPDATE semel_record SET token = randomblob(16) WHERE state = 1"

// heldWorld meets a replay, a mismatch, a doubt, a fenced run, a store that cannot
// be written, and a save that is pending and then lost.
func heldWorld(t *testing.T) string {
	w := newWorld(t)
	w.post("/", "order", "b")
	w.post("/", "order", "b")
	w.post("/", "order", "another body")
	w.post("/silence", "silent", "b")
	if code, body := w.admin("/readyz"); code != 200 {
		t.Errorf("/readyz: %d %s", code, body)
	}
	fenced := w.held("fenced")
	w.exec(steal)
	w.free <- struct{}{}
	<-fenced

	saved := w.held("saved-late")
	w.exec("BEGIN IMMEDIATE")
	checked := make(chan int, 1)
	w.free <- struct{}{}
	go func() {
		for code := 200; code == 200; { // an earlier check may still count
			code, _ = w.admin("/readyz")
			checked <- code
		}
		close(checked)
	}()
	if code := <-saved; code != 200 {
		t.Errorf("a client whose answer cannot be saved got %d", code)
	}
	w.serves("semel_background_saves_pending 1")
	for code := range checked {
		t.Logf("/readyz of a store that cannot be written: %d", code)
	}
	w.exec(steal)
	w.exec("COMMIT")
	return w.serves("semel_background_saves_lost_total")
}

// lapsingWorld meets a lease that cannot be renewed.
func lapsingWorld(t *testing.T) string {
	w := newWorld(t, "--on-unknown", "retry", "--lease", "2s")
	over := w.held("lapsing")
	w.exec("BEGIN IMMEDIATE")
	<-w.gone
	w.exec("ROLLBACK")
	<-over
	return w.serves("semel_leases_lost_total")
}
