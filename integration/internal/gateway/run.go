package gateway

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// Process is a running `semel proxy`.
type Process struct {
	URL   string // where clients connect
	Admin string // where /metrics is
	PID   int
	log   log

	cmd    *exec.Cmd
	read   chan struct{} // closed when the log has ended
	killed bool
}

// Log is what the process has logged so far.
func (p *Process) Log() string { return p.log.String() }

// log gathers lines while others read them.
type log struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

// Write is [io.Writer].
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

// String is all of it.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

// Start runs semel proxy on free ports and a store of its own file, and waits until
// it listens. Further settings are flags. It is stopped with the test, and has to end
// well.
func Start(t *testing.T, binary, upstream, file string, flags ...string) *Process {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, binary, upstream, filepath.Dir(file), "sqlite:"+file, flags)
}

// StartOn is Start on the store at a URL.
func StartOn(t *testing.T, binary, upstream, store string, flags ...string) *Process {
	t.Helper()
	return start(t, binary, upstream, t.TempDir(), store, flags)
}

func start(t *testing.T, binary, upstream, dir, store string, flags []string) *Process {
	t.Helper()
	cmd := exec.Command(binary, append([]string{
		"proxy", "--upstream", upstream, "--principal", "global", "--store", store,
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-format", "json",
	}, flags...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{PID: cmd.Process.Pid, cmd: cmd, read: make(chan struct{})}
	t.Cleanup(func() { p.stop(t) })
	p.listening(t, stderr)
	return p
}

// Kill ends the process by SIGKILL, in the middle of what it does.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	p.killed = true
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.read
	p.cmd.Wait() // it says that it was killed
}

// Where it listens, in the first line of either form of the log.
var (
	listenField = regexp.MustCompile(`[ "]listen"?[:=]"?([^" ]+)`)
	adminField  = regexp.MustCompile(`[ "]admin"?[:=]"?([^" ]+)`)
)

// listening reads the first line of the log, which says where, and goes on reading
// until the process ends.
func (p *Process) listening(t *testing.T, stderr io.Reader) {
	t.Helper()
	lines := bufio.NewReader(io.TeeReader(stderr, &p.log))
	first, err := lines.ReadString('\n')
	go func() {
		defer close(p.read)
		io.Copy(io.Discard, lines)
	}()
	listen, admin := listenField.FindStringSubmatch(first), adminField.FindStringSubmatch(first)
	if err != nil || listen == nil || admin == nil {
		t.Fatalf("the gateway does not say where it listens: %q, %v", first, err)
	}
	p.URL, p.Admin = "http://"+listen[1], "http://"+admin[1]
}

func (p *Process) stop(t *testing.T) {
	if p.killed {
		return
	}
	late := time.AfterFunc(time.Minute, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	<-p.read
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the gateway ended with %v", err)
	}
}
