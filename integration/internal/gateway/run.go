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
	cmd := exec.Command(binary, append([]string{
		"proxy", "--upstream", upstream, "--principal", "global", "--store", "sqlite:" + file,
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-format", "json",
	}, flags...)...)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = []string{"HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{PID: cmd.Process.Pid}
	read := make(chan struct{})
	t.Cleanup(func() { stop(t, cmd, read) })
	p.listening(t, stderr, read)
	return p
}

// Where it listens, in the first line of either form of the log.
var (
	listenField = regexp.MustCompile(`[ "]listen"?[:=]"?([^" ]+)`)
	adminField  = regexp.MustCompile(`[ "]admin"?[:=]"?([^" ]+)`)
)

// listening reads the first line of the log, which says where, and goes on reading
// until the process ends.
func (p *Process) listening(t *testing.T, stderr io.Reader, read chan<- struct{}) {
	t.Helper()
	lines := bufio.NewReader(io.TeeReader(stderr, &p.log))
	first, err := lines.ReadString('\n')
	go func() {
		defer close(read)
		io.Copy(io.Discard, lines)
	}()
	listen, admin := listenField.FindStringSubmatch(first), adminField.FindStringSubmatch(first)
	if err != nil || listen == nil || admin == nil {
		t.Fatalf("the gateway does not say where it listens: %q, %v", first, err)
	}
	p.URL, p.Admin = "http://"+listen[1], "http://"+admin[1]
}

func stop(t *testing.T, cmd *exec.Cmd, read <-chan struct{}) {
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	<-read
	if err := cmd.Wait(); err != nil {
		t.Errorf("the gateway ended with %v", err)
	}
}
