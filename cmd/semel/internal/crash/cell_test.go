package crash_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

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
	var line strings.Builder
	fmt.Fprintf(&line, "%d kills", s.kills)
	for _, mode := range []string{"hold", "retry"} {
		m := s.modes[mode]
		fmt.Fprintf(&line, "; %s: %d kills, %d keys with a recorded answer, %d unknown after one execution, %d unknown with 0 executions, at most %d executions of a key",
			mode, m.kills, m.recorded, m.unknown, m.unknownUnexecuted, m.most)
	}
	return line.String()
}
