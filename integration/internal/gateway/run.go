package gateway

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Process is a running `semel proxy`.
type Process struct {
	URL   string // where clients connect
	Admin string // where /metrics is
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
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cmd) })
	return listening(t, log)
}

// listening reads the first line of the log, which says where, and goes on reading.
func listening(t *testing.T, log io.Reader) *Process {
	t.Helper()
	lines := bufio.NewReader(log)
	first, err := lines.ReadString('\n')
	var line struct{ Listen, Admin string }
	if err == nil {
		err = json.Unmarshal([]byte(first), &line)
	}
	if err != nil || line.Listen == "" {
		t.Fatalf("the gateway does not say where it listens: %q, %v", first, err)
	}
	go io.Copy(io.Discard, lines)
	return &Process{URL: "http://" + line.Listen, Admin: "http://" + line.Admin}
}

func stop(t *testing.T, cmd *exec.Cmd) {
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the gateway ended with %v", err)
	}
}
