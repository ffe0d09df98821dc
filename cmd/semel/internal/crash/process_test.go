package crash_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// build compiles the semel binary as it is released, or with the crash points.
func build(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "semel")
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", path}, args, []string{"github.com/semel-go/semel/cmd/semel"})...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// process is a running gateway.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	logs bytes.Buffer
	read chan struct{} // closed when the log is read to its end
}

// launch starts a gateway; crashAt may be empty. It returns once it listens.
func launch(t *testing.T, binary, crashAt string, flags ...string) *process {
	t.Helper()
	p := &process{t: t, read: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), binary, append([]string{"proxy", "--listen=127.0.0.1:0", "--log-format=json"}, flags...)...)
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "SEMEL_") })
	if crashAt != "" {
		p.cmd.Env = append(p.cmd.Env, "SEMEL_CRASH_AT="+crashAt)
	}
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	first, err := in.ReadBytes('\n')
	var line struct{ Listen string }
	if err != nil || json.Unmarshal(first, &line) != nil || line.Listen == "" {
		rest, _ := io.ReadAll(in)
		t.Fatalf("the gateway did not start: %v\n%s%s", err, first, rest)
	}
	p.url = "http://" + line.Listen
	go func() {
		defer close(p.read)
		io.Copy(&p.logs, in)
	}()
	return p
}

// wait waits for the end and returns the signal that ended the process, if any.
func (p *process) wait() (syscall.Signal, error) {
	<-p.read
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return status.Signal(), nil
		}
	}
	return 0, err
}

// stop asks for a graceful end.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
	if signal, err := p.wait(); err != nil || signal != 0 {
		p.t.Errorf("the gateway ended with %v %v\n%s", signal, err, p.logs.String())
	}
}

// reply is what a client got; no status for a dead connection.
type reply struct {
	status     int
	body       string
	replayed   bool
	retryAfter string
}

func (p *process) post(key string) reply {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url+"/pay", strings.NewReader("amount=42"))
	if err != nil {
		p.t.Error(err)
		return reply{}
	}
	r.Header.Set("Idempotency-Key", key)
	res, err := client.Do(r)
	if err != nil {
		return reply{}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}
	}
	return reply{res.StatusCode, string(body), res.Header.Get("Idempotent-Replayed") == "true", res.Header.Get("Retry-After")}
}
