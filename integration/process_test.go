package integration

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// process is a child that tells what it did, a line at a time.
type process struct {
	cmd  *exec.Cmd
	in   io.Writer
	read chan error // the end of its output

	mu    sync.Mutex
	lines []string
	heard *sync.Cond
	over  bool
}

// start runs a child of this test binary.
func start(t *testing.T, child string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), read: make(chan error, 1)}
	p.heard = sync.NewCond(&p.mu)
	p.cmd.Env = append(os.Environ(), childEnv+"="+child)
	p.cmd.Stderr = os.Stderr
	out, errOut := p.cmd.StdoutPipe()
	in, errIn := p.cmd.StdinPipe()
	if err := errors.Join(errOut, errIn); err != nil {
		t.Fatal(err)
	}
	p.in = in
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			p.hear(scanner.Text(), false)
		}
		p.hear("", true)
		p.read <- scanner.Err()
	}()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

func (p *process) hear(line string, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = over; !over {
		p.lines = append(p.lines, line)
	}
	p.heard.Broadcast()
}

// release lets a child go on that has said "ready" and reads its input. Children
// that are to race are released together.
func release(t *testing.T, all ...*process) {
	t.Helper()
	for _, p := range all {
		if !p.after(1, "ready") {
			t.Fatal("a child did not start")
		}
	}
	for _, p := range all {
		if _, err := fmt.Fprintln(p.in, "go"); err != nil {
			t.Fatal(err)
		}
	}
}

// after waits until the child has said n lines with this word, and reports
// whether it got so far.
func (p *process) after(n int, word string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.over && p.count(word) < n {
		p.heard.Wait()
	}
	return p.count(word) >= n
}

func (p *process) count(word string) (n int) {
	for _, line := range p.lines {
		if strings.HasPrefix(line+" ", word+" ") {
			n++
		}
	}
	return n
}

// kill ends the child with SIGKILL and returns what it had said.
func (p *process) kill(t *testing.T) []string {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	lines, err := p.wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
		t.Fatalf("the child ended by itself before it was killed: %v", err)
	}
	return lines
}

// wait returns what the child said until its end.
func (p *process) wait() ([]string, error) {
	err := <-p.read
	return p.lines, errors.Join(err, p.cmd.Wait())
}
