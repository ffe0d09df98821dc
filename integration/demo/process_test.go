package demo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// binary is the semel that all tests run. TestMain builds it.
var binary string

func TestMain(m *testing.M) { os.Exit(gateway.Main(m, &binary)) }

// need returns the path of the first program found, or skips the test; where
// CI=true it fails it.
func need(t *testing.T, what string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	message := fmt.Sprintf("%s is missing (looked for %s); install it, such as with: apt-get install %s", what, strings.Join(names, ", "), names[0])
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// running is a demo in a process of its own.
type running struct {
	t    *testing.T
	cmd  *exec.Cmd
	temp string // where it makes its folder
	url  string
	said string // before the first request
}

// start runs semel demo on a free port and waits for its address. It ends with
// the test, which fails if anything is left.
func start(t *testing.T) *running {
	t.Helper()
	d := &running{t: t, temp: t.TempDir()}
	d.cmd = exec.Command(binary, "demo", "--listen", "127.0.0.1:0")
	d.cmd.Env = append(os.Environ(), "TMPDIR="+d.temp)
	d.cmd.Stderr = os.Stderr
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.cmd.Process.Kill() })
	d.hear(out)
	return d
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// hear reads what the demo says when it is ready.
func (d *running) hear(out io.Reader) {
	d.t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		d.said += lines.Text() + "\n"
		if d.url == "" {
			d.url = address.FindString(lines.Text())
		}
		if strings.Contains(lines.Text(), "Ctrl-C") {
			go io.Copy(io.Discard, out)
			return
		}
	}
	d.t.Fatalf("the demo ended before it was ready; it said:\n%s", d.said)
}

// interrupt is Ctrl-C; it checks that the demo ends well and leaves nothing.
func (d *running) interrupt() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("the demo ended with %v", err)
	}
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		d.t.Errorf("files left behind: %v %v", left, err)
	}
	for _, url := range address.FindAllString(d.said, -1) {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
			conn.Close()
			d.t.Errorf("%s still listens", url)
		}
	}
}

// ended waits for a process that a signal was meant to end.
func ended(cmd *exec.Cmd) (*os.ProcessState, error) {
	err := cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = nil
	}
	return cmd.ProcessState, err
}
