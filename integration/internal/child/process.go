package child

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

// Process is a child. Its methods are for the test's own goroutine.
type Process struct {
	cmd  *exec.Cmd
	in   io.Writer
	read chan error // the end of its output

	mu    sync.Mutex
	heard *sync.Cond
	lines []string
	over  bool
}

// Start starts the child of this name. It is killed at the end of the test at the
// latest.
func Start(t testing.TB, name string, args ...string) *Process {
	t.Helper()
	p := &Process{cmd: exec.Command(os.Args[0], args...), read: make(chan error, 1)}
	p.heard = sync.NewCond(&p.mu)
	p.cmd.Env = append(os.Environ(), env+"="+name)
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
	go p.listen(out)
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended in good tests
	return p
}

func (p *Process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		p.hear(lines.Text(), false)
	}
	p.hear("", true)
	p.read <- lines.Err()
}

func (p *Process) hear(line string, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = over; !over {
		p.lines = append(p.lines, line)
	}
	p.heard.Broadcast()
}

// Tell sends the child a line.
func (p *Process) Tell(t testing.TB, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		t.Fatal(err)
	}
}

// After waits until the child has said n lines that begin with this word, and reports
// whether it got so far before its end.
func (p *Process) After(n int, word string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.over && p.count(word) < n {
		p.heard.Wait()
	}
	return p.count(word) >= n
}

func (p *Process) count(word string) (n int) {
	for _, line := range p.lines {
		if strings.HasPrefix(line+" ", word+" ") {
			n++
		}
	}
	return n
}

// Signal sends the child a signal, such as the one that lets it go on after it has stopped
// itself.
func (p *Process) Signal(t testing.TB, sig os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the child with SIGKILL and returns what it had said.
func (p *Process) Kill(t testing.TB) []string {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	lines, err := p.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
		t.Fatalf("the child ended by itself before it was killed: %v", err)
	}
	return lines
}

// Wait waits for the child's end and returns what it said.
func (p *Process) Wait() ([]string, error) {
	err := <-p.read
	return p.lines, errors.Join(err, p.cmd.Wait())
}
