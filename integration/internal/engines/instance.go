package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startTimeout = time.Minute
	stopTimeout  = time.Minute
)

// instance is a server's process, which may end and be started again.
type instance struct {
	group   *group
	name    string                          // for messages
	dir     string                          // its folder
	port    int                             // of the loopback
	argv    []string                        // the program and its arguments
	stop    syscall.Signal                  // ends it in order
	orphan  syscall.Signal                  // ends it, children and all, when our process is killed
	ready   func(ctx context.Context) error // nil as soon as it serves
	cleanup func()                          // after a kill; may be nil

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed at the end of cmd
}

// start starts the process and waits until it serves.
func (i *instance) start() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.alive() {
		return fmt.Errorf("%s runs already", i.name)
	}
	if err := i.spawn(); err != nil {
		return fmt.Errorf("%s: %w", i.name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := i.awaitReady(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s does not start: %w\n%s", i.name, errors.Join(err, i.killAll()), i.log())
}

func (i *instance) spawn() error {
	out, err := os.OpenFile(i.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := i.group.command(i.dir, i.argv[0], i.argv[1:]...)
	cmd.SysProcAttr = i.group.account.attributes(i.orphan)
	cmd.Stdout, cmd.Stderr = out, out
	started, exited := make(chan error), make(chan struct{})
	go func() {
		// The kernel sends the orphan signal when the thread ends that forked.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait() // how it ended is in its log
		}
	}()
	i.cmd, i.exited = cmd, exited
	return <-started
}

func (i *instance) awaitReady(ctx context.Context) error {
	for {
		err := i.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-i.exited:
			return errors.New("it ended")
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (i *instance) logFile() string { return filepath.Join(i.dir, "log") }

// log is the end of what the server wrote.
func (i *instance) log() string {
	text, _ := os.ReadFile(i.logFile())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// alive says that the process has not ended.
func (i *instance) alive() bool {
	if i.cmd == nil || i.cmd.Process == nil {
		return false
	}
	select {
	case <-i.exited:
		return false
	default:
		return true
	}
}

// halt ends the process in order. Its data stays.
func (i *instance) halt() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive() {
		return nil
	}
	pid := i.cmd.Process.Pid
	err := errors.Join(i.signal(syscall.SIGCONT, tree(pid)...), i.signal(i.stop, pid))
	select {
	case <-i.exited:
		return err
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("%s did not stop within %v\n%s", i.name, stopTimeout, i.log()), i.killAll())
	}
}

// kill ends the process and those it started at once, so that nothing stays of it but
// its files.
func (i *instance) kill() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.killAll()
}

func (i *instance) killAll() error {
	if !i.alive() {
		return nil
	}
	all, err := i.freeze()
	err = errors.Join(err, i.signal(syscall.SIGKILL, all...))
	<-i.exited
	err = errors.Join(err, i.await("killed", all, gone))
	if i.cleanup != nil {
		i.cleanup()
	}
	return err
}

// pause stops the process and those it started, without their knowing.
func (i *instance) pause() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive() {
		return fmt.Errorf("%s does not run", i.name)
	}
	_, err := i.freeze()
	return err
}

// freeze goes on until there is no new child: one may be born before its parent stops.
func (i *instance) freeze() (all []int, err error) {
	pid := i.cmd.Process.Pid
	for found := []int{pid}; !slices.Equal(found, all); found = tree(pid) {
		all = found
		err := errors.Join(i.signal(syscall.SIGSTOP, all...), i.await("paused", all, halted))
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (i *instance) resume() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive() {
		return fmt.Errorf("%s does not run", i.name)
	}
	return i.signal(syscall.SIGCONT, tree(i.cmd.Process.Pid)...)
}

// signal sends a signal to processes, some of which may have ended.
func (i *instance) signal(sig syscall.Signal, pids ...int) error {
	var failed []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && err != syscall.ESRCH {
			failed = append(failed, fmt.Errorf("%s: %v to %d: %w", i.name, sig, pid, err))
		}
	}
	return errors.Join(failed...)
}

// await polls until all processes are as wanted: those that are not our children
// cannot be waited for.
func (i *instance) await(what string, pids []int, is func(pid int) bool) error {
	for deadline := time.Now().Add(stopTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if !slices.ContainsFunc(pids, func(pid int) bool { return !is(pid) }) {
			return nil
		}
	}
	return fmt.Errorf("%s is not %s after %v", i.name, what, stopTimeout)
}

// end ends the process and removes its data.
func (i *instance) end() error {
	return errors.Join(i.kill(), os.RemoveAll(i.dir))
}
