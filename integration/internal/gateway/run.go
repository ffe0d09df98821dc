package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
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
	return start(t, binary, upstream, filepath.Dir(file), "sqlite:"+file, nil, flags)
}

// StartOn is Start on the store at a URL.
func StartOn(t *testing.T, binary, upstream, store string, flags ...string) *Process {
	t.Helper()
	return start(t, binary, upstream, t.TempDir(), store, nil, flags)
}

// StartDoomed is StartOn for a binary with crash points, which kills itself at the
// point; Died waits for that.
func StartDoomed(t *testing.T, binary, point, upstream, store string, flags ...string) *Process {
	t.Helper()
	p := start(t, binary, upstream, t.TempDir(), store, []string{"SEMEL_CRASH_AT=" + point}, flags)
	p.killed = true
	return p
}

func start(t *testing.T, binary, upstream, dir, store string, environ, flags []string) *Process {
	t.Helper()
	cmd := exec.Command(binary, append([]string{
		"proxy", "--upstream", upstream, "--principal", "global", "--store", store,
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-format", "json",
	}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir}, environ...)
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
	p.Died(t)
}

// Died waits until the process has ended by SIGKILL.
func (p *Process) Died(t *testing.T) {
	t.Helper()
	<-p.read
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || !bySIGKILL(exit) {
		t.Errorf("the gateway was to be killed, and ended with %v\n%s", err, p.Log())
	}
}

func bySIGKILL(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
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
