package engines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// prefix begins the names of the temporary folders.
const prefix = "semel-engines-"

// group is the servers of one process and the folder that they live in.
type group struct {
	mu      sync.Mutex
	account account
	root    string   // "" until the first server
	hold    *os.File // root, locked while this process lives
	started int
	ports   map[int]bool // that were given away
	running []*instance
}

// open makes the root folder once, and removes those of processes that were killed.
func (g *group) open() error {
	if g.root != "" {
		return nil
	}
	if runtime.GOOS != "linux" {
		return missingError("engines for tests run on Linux only")
	}
	who, err := unprivileged()
	if err != nil {
		return err
	}
	// While we have this lock, nobody takes a new folder for an abandoned one.
	temp, err := locked(os.TempDir(), true)
	if err != nil {
		return err
	}
	defer temp.Close()
	sweep()
	root, err := os.MkdirTemp("", prefix)
	if err != nil {
		return err
	}
	if g.hold, err = locked(root, true); err != nil {
		return err
	}
	g.account, g.root = who, root
	return who.own(root)
}

func locked(dir string, wait bool) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := lock(f, wait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the folders whose owner lives no more. Its servers have ended with it.
func sweep() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range all {
		// Those in use, and those of other accounts, are left alone.
		if f, err := locked(dir, false); err == nil {
			os.RemoveAll(dir)
			f.Close()
		}
	}
}

// prepare finds the engine's server program and gives a new instance a folder and a
// port. The caller adds arguments, signals and the readiness check.
func (g *group) prepare(e engine, server string) (*instance, error) {
	program, err := e.program(server)
	if err != nil {
		return nil, err
	}
	dir, err := g.folder(server)
	if err != nil {
		return nil, err
	}
	port, err := g.freePort()
	if err != nil {
		return nil, err
	}
	return &instance{group: g, name: e.name, dir: dir, port: port, argv: []string{program}}, nil
}

// folder makes one for a new server.
func (g *group) folder(name string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return "", err
	}
	g.started++
	dir := filepath.Join(g.root, fmt.Sprintf("%s-%d", name, g.started))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, g.account.own(dir)
}

// run runs a program of an engine to its end.
func (g *group) run(dir, path string, args ...string) error {
	cmd := g.command(dir, path, args...)
	cmd.SysProcAttr = g.account.attributes(syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, out)
	}
	return nil
}

// command has a bare environment: PGDATA, MYSQL_HOME and their like would lead it to
// the data of others.
func (g *group) command(dir, path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC"}
	return cmd
}

// start starts a server for the first time.
func (g *group) start(i *instance) error {
	if err := i.start(); err != nil {
		return errors.Join(err, i.end())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = append(g.running, i)
	return nil
}

// close ends all servers and removes what they had.
func (g *group) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.root == "" {
		return nil
	}
	var failed []error
	for _, i := range g.running {
		failed = append(failed, i.end())
	}
	failed = append(failed, os.RemoveAll(g.root), g.hold.Close())
	g.root, g.running = "", nil
	return errors.Join(failed...)
}
