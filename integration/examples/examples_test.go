package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/gateway"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// The balance is deducted once, and a second run of the program finds the tables.
func TestBalanceOnPGX(t *testing.T) {
	t.Parallel()
	url := engines.Postgres(t).Database(t)
	program := build(t, "./examples/balancepgx")
	const want = `order-1: 70 left, error <nil>
order-1: 70 left, error <nil>
order-1: 70 left, error <nil>
order-2: insufficient_funds: the balance is too low
order-2: insufficient_funds: the balance is too low
balance: 70
`
	for range 2 {
		if got := output(t, program, "DATABASE_URL="+url); got != want {
			t.Errorf("got:\n%s", got)
		}
	}
}

// build compiles a program of the repository.
func build(t *testing.T, path string) (file string) {
	t.Helper()
	root, err := gateway.Root()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), filepath.Base(path))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, path)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}
