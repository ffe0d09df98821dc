package crash_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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
// FIELD-FAULTS: killed half-way, the key is locked for ever; the work runs twice;
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

// cell is one mode and one step to die at, on one file.
type cell struct {
	t       *testing.T
	binary  string
	mode    string
	crashAt string
	flags   []string

	kills int
	sent  map[string]int // requests by key
	last  string         // the key killed last

	mu       sync.Mutex
	executed map[string]int // by the upstream

	recorded, unknown, unknownUnexecuted, most int
}

func newCell(t *testing.T, binary, mode, crashAt string) *cell {
	c := &cell{t: t, binary: binary, mode: mode, crashAt: crashAt, sent: map[string]int{}, executed: map[string]int{}}
	up := httptest.NewServer(http.HandlerFunc(c.execute))
	t.Cleanup(up.Close)
	c.flags = []string{
		"--upstream=" + up.URL, "--principal=global", "--admin=off", "--lease=1s", "--on-unknown=" + mode,
		"--store=sqlite:" + filepath.Join(t.TempDir(), "semel.db"),
	}
	return c
}

// execute is the upstream: it charges, and says for which time.
func (c *cell) execute(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	key := r.Header.Get("Idempotency-Key")
	c.mu.Lock()
	c.executed[key]++
	n := c.executed[key]
	c.mu.Unlock()
	io.WriteString(w, receipt(key, n))
}

func receipt(key string, n int) string { return fmt.Sprintf("receipt %d of %s", n, key) }

// kill starts a gateway on the cell's file. Every other one first gets the retry
// of the key that was killed last. If it survives that, it gets a request with a
// new key, of which it must die.
func (c *cell) kill() {
	p := launch(c.t, c.binary, c.crashAt, c.flags...)
	if c.kills%2 == 0 || c.post(p, c.last).status != 0 {
		c.last = fmt.Sprintf("%s-%s-%d", c.mode, c.crashAt, len(c.sent))
		if got := c.post(p, c.last); got.status != 0 {
			c.t.Errorf("%s: got %d %q from a gateway that should have died", c.last, got.status, got.body)
			p.stop()
			return
		}
	}
	if signal, err := p.wait(); signal != syscall.SIGKILL {
		c.t.Errorf("%s: ended by %v %v, not by SIGKILL\n%s", c.last, signal, err, p.logs.String())
	}
	c.kills++
}

func (c *cell) post(p *process, key string) reply {
	c.sent[key]++
	return p.post(key)
}

// settle restarts without a crash point and retries all keys until each has a
// final answer, which must then stand. Waiting is shared: a round of retries
// waits for the longest Retry-After in it.
func (c *cell) settle(check func(key string, got reply, executed int)) {
	p := launch(c.t, c.binary, "", c.flags...)
	open := make(map[string]bool)
	for key := range c.sent {
		open[key] = true
	}
	for len(open) > 0 {
		wait := 0
		for key := range open {
			got := c.post(p, key)
			if seconds, err := strconv.Atoi(got.retryAfter); err == nil {
				wait = max(wait, seconds)
				continue
			}
			delete(open, key)
			c.count(key, got)
			check(key, got, c.executed[key])
			if again := c.post(p, key); again.status != got.status || again.body != got.body || got.status == 200 && !again.replayed {
				c.t.Errorf("%s: the final answer was %d %q, then %d %q", key, got.status, got.body, again.status, again.body)
			}
		}
		if len(open) > 0 {
			<-time.After(time.Duration(wait) * time.Second) // as Retry-After asks of a client
		}
	}
	p.stop()
}

// wantUnderRetry: never stuck, one recorded answer, and no execution without a
// request.
func (c *cell) wantUnderRetry(key string, got reply, executed int) {
	c.t.Helper()
	if got.status != 200 || got.body != receipt(key, executed) {
		c.t.Errorf("%s: got %d %q after %d executions, want the last one's answer", key, got.status, got.body, executed)
	}
	if executed < 1 || executed > c.sent[key] {
		c.t.Errorf("%s: executed %d times in %d attempts", key, executed, c.sent[key])
	}
}

func (c *cell) count(key string, got reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	executed := c.executed[key]
	c.most = max(c.most, executed)
	switch {
	case got.status == 200:
		c.recorded++
	case got.unknown() && executed == 0:
		c.unknownUnexecuted++
	case got.unknown():
		c.unknown++
	}
}

func (r reply) unknown() bool {
	return r.status == 409 && strings.Contains(r.body, `"code":"outcome-unknown"`)
}

// sums are the figures of a whole run.
type sums struct {
	mu    sync.Mutex
	kills int
	modes map[string]*cell
}

func (s *sums) add(c *cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modes == nil {
		s.modes = map[string]*cell{"hold": {}, "retry": {}}
	}
	m := s.modes[c.mode]
	s.kills += c.kills
	m.kills += c.kills
	m.recorded += c.recorded
	m.unknown += c.unknown
	m.unknownUnexecuted += c.unknownUnexecuted
	m.most = max(m.most, c.most)
}

func (s *sums) String() string {
	if s.modes == nil {
		return "no kills"
	}
	line := fmt.Sprintf("%d kills", s.kills)
	for _, mode := range []string{"hold", "retry"} {
		m := s.modes[mode]
		line += fmt.Sprintf("; %s: %d kills, %d keys with a recorded answer, %d unknown after one execution, %d unknown with 0 executions, at most %d executions of a key",
			mode, m.kills, m.recorded, m.unknown, m.unknownUnexecuted, m.most)
	}
	return line
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
