package crash_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "github.com/semel-go/semel/cmd/semel/internal/cli" // so that a change of the binary's code makes a cached result stale
)

// Everything that runs the real binary; it is built once with the crash points
// and once without.
func TestBinary(t *testing.T) {
	t.Parallel()
	release, tagged := build(t), build(t, "-tags=semelcrash")
	t.Run("killed at each step", func(t *testing.T) { testKilledAtEachStep(t, tagged) })
	t.Run("the release has no crash points", func(t *testing.T) { testReleaseHasNoCrashPoints(t, release, tagged) })
	t.Run("SIGTERM", func(t *testing.T) { testTerm(t, release) })
	t.Run("SIGHUP", func(t *testing.T) { testHangup(t, release) })
}

const killsPerCell = 21 // ten cells

// points are the steps to die at, and what must come of a key that was killed
// there once, under hold.
var points = []struct {
	name     string
	recorded bool // else in doubt
	executed int
}{
	{"before-claim", true, 1},
	{"after-claim", false, 0},
	{"after-upstream", false, 1},
	{"before-save", false, 1},
	{"before-answer", true, 1},
}

// The gateway dies by SIGKILL at each step of a request, again and again, and
// the client retries until it has a final answer.
//
// Field fault: killed half-way, the key is locked for ever; the work runs twice;
// the result is lost.
func testKilledAtEachStep(t *testing.T, binary string) {
	t.Parallel()
	sums := &sums{}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		line := "crash test: " + sums.String()
		t.Log(line)
		fmt.Println(line)
		if sums.kills < 200 {
			t.Errorf("%d kills, want at least 200", sums.kills)
		}
	})
	for _, mode := range []string{"hold", "retry"} {
		for _, point := range points {
			t.Run(mode+"/"+point.name, func(t *testing.T) {
				t.Parallel()
				c := newCell(t, binary, mode, point.name)
				for range killsPerCell {
					c.kill()
				}
				c.settle(func(key string, got reply, executed int) {
					if mode == "hold" {
						wantUnderHold(t, key, got, executed, point.recorded, point.executed)
					} else {
						c.wantUnderRetry(key, got, executed)
					}
				})
				sums.add(c)
			})
		}
	}
}

func wantUnderHold(t *testing.T, key string, got reply, executed int, recorded bool, times int) {
	t.Helper()
	switch {
	case executed > 1:
		t.Errorf("%s: executed %d times under hold", key, executed)
	case executed != times:
		t.Errorf("%s: executed %d times, want %d", key, executed, times)
	case recorded && (got.status != 200 || got.body != receipt(key, 1)):
		t.Errorf("%s: got %d %q, want the recorded answer", key, got.status, got.body)
	case !recorded && !got.unknown():
		t.Errorf("%s: got %d %q, want outcome-unknown", key, got.status, got.body)
	}
}

// The crash points exist in the tagged binary only.
func testReleaseHasNoCrashPoints(t *testing.T, release, tagged string) {
	t.Parallel()
	traces := []string{"SEMEL_CRASH_AT", "after-upstream", "before-answer", "internal/crash.at", "internal/crash.(*store)", "internal/crash.(*transport)"}
	in, out := read(t, tagged), read(t, release)
	for _, trace := range traces {
		if bytes.Contains(out, []byte(trace)) {
			t.Errorf("the release binary contains %q", trace)
		}
		if !bytes.Contains(in, []byte(trace)) {
			t.Errorf("the tagged binary does not contain %q: the test looks for the wrong thing", trace)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The real process: it serves, and ends cleanly on SIGTERM.
func testTerm(t *testing.T, release string) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	t.Cleanup(up.Close)
	p := launch(t, release, "", "--upstream="+up.URL, "--principal=global", "--admin=off", "--store=memory:")
	if got := p.post("k-1"); got.status != 200 || got.body != "ok" {
		t.Errorf("got %+v", got)
	}
	p.stop()
	if !strings.Contains(p.logs.String(), "stopped: all requests are recorded") {
		t.Errorf("log:\n%s", p.logs.String())
	}
}

// A request that runs while the configuration is reloaded is answered and
// recorded by its old upstream; the process goes on with the new one.
func testHangup(t *testing.T, release string) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "running" {
			close(begun)
			<-end
		}
		io.WriteString(w, "first")
	}))
	t.Cleanup(first.Close)
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "second") }))
	t.Cleanup(second.Close)
	file := filepath.Join(t.TempDir(), "semel.yaml")
	write := func(upstream string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("upstream: "+upstream+"\nprincipal: global\nstore: 'memory:'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first.URL)
	p := launch(t, release, "", "--admin=off", "--config="+file)
	replies := make(chan reply, 1)
	go func() { replies <- p.post("running") }()
	<-begun
	write(second.URL)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		got := p.post(fmt.Sprint("probe-", n))
		if got.status != 200 {
			t.Fatalf("a request was dropped: %+v", got)
		}
		if got.body == "second" {
			break
		}
	}
	close(end)
	if got := <-replies; got.status != 200 || got.body != "first" {
		t.Errorf("the running request: %+v", got)
	}
	if got := p.post("running"); !got.replayed || got.body != "first" {
		t.Errorf("its retry: %+v", got)
	}
	p.stop()
}
