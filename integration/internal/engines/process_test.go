package engines

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// within finds the processes that work in a folder.
func within(dir string) (pids []string) {
	cwds, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range cwds {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
			pids = append(pids, link)
		}
	}
	return pids
}

func TestRunLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Run(ctx, in)
		in.Close()
		ended <- err
	}()
	root := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		t.Log(lines.Text())
		if words := strings.Fields(lines.Text()); len(words) == 2 && words[0] == "MariaDB" {
			takesMySQL(t, words[1])
		}
		if _, err := fmt.Sscanf(lines.Text(), "Data and logs are in %s", &root); err == nil {
			if len(within(root)) < 4 {
				t.Errorf("only %v run", within(root))
			}
			cancel()
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if left := within(root); root == "" || len(left) > 0 {
		t.Errorf("%v still run in %q", left, root)
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("%s is still there", root)
	}
}

// takesMySQL opens the database that a URL names.
func takesMySQL(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "mysql" {
		t.Errorf("%s is no URL of MySQL: %v", address, err)
		return
	}
	db := open(t, "mysql", u.User.String()+"@tcp("+u.Host+")"+u.Path)
	if got := number(t, db, "SELECT count(*) FROM information_schema.schemata WHERE schema_name = database()"); got != 1 {
		t.Errorf("%s names no database", address)
	}
}

// childEnv makes the test binary call Run instead of the tests.
const childEnv = "SEMEL_ENGINES_CHILD"

// A test binary that is killed cannot end its servers. The kernel does, and the next
// one removes the data.
func TestKilledOwnerLeavesNothing(t *testing.T) {
	t.Parallel()
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), childEnv+"=1")
	owner.Stderr = os.Stderr
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	root := ""
	for lines := bufio.NewScanner(out); root == "" && lines.Scan(); {
		fmt.Sscanf(lines.Text(), "Data and logs are in %s", &root)
	}
	owner.Process.Kill()
	owner.Wait()
	if root == "" {
		t.Fatal("the servers did not start")
	}
	i := &instance{name: "killed owner's server"}
	if err := i.await("gone", []int{0}, func(int) bool { return len(within(root)) == 0 }); err != nil {
		t.Errorf("%v: %v", err, within(root))
	}
	sweep()
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("%s is still there", root)
	}
}

func TestFailedStartShowsLog(t *testing.T) {
	t.Parallel()
	g := &group{}
	defer g.close()
	_, err := startPostgres(g, &Options{Settings: map[string]string{"shared_buffers": "many"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "shared_buffers"`) {
		t.Errorf("got %v, want what the server says", err)
	}
	if left := within(g.root); len(left) > 0 {
		t.Errorf("%v run", left)
	}
}
