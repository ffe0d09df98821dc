package frontend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// What TestMain builds: the gateway, and the client's folder.
var binary, client string

// missing says what the tests cannot run without.
var missing string

func TestMain(m *testing.M) { os.Exit(gateway.With(&binary, func() int { return run(m) })) }

func run(m *testing.M) int {
	defer closeBrowser()
	root, err := gateway.Root()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client = filepath.Join(root, "js")
	missing = needed()
	if missing == "" {
		if out, err := exec.Command(filepath.Join(root, "scripts", "js")).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "the JavaScript client cannot be built: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// needed looks for the programs.
func needed() string {
	if _, err := exec.LookPath("npm"); err != nil {
		return "npm is missing; install Node.js with it, such as with: apt-get install nodejs npm"
	}
	if chromium() == "" {
		return "Chromium is missing (looked for " + strings.Join(browsers, ", ") + "); install it, such as with: apt-get install chromium"
	}
	return ""
}

var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

func chromium() string {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// need skips the test if something is missing; where CI=true it fails it.
func need(t *testing.T) {
	t.Helper()
	switch {
	case missing == "":
	case os.Getenv("CI") == "true":
		t.Fatal(missing)
	default:
		t.Skip(missing)
	}
}
