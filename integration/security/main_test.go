package security

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// binary is the semel that all tests attack. TestMain builds it.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "semel-security-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		binary, err = gateway.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// start runs a gateway whose callers are told apart by X-Tenant.
func start(t *testing.T, upstream string, flags ...string) *gateway.Process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "semel.sqlite")
	return gateway.Start(t, binary, upstream, file, append([]string{"--principal", "header:X-Tenant"}, flags...)...)
}
