package integration

import (
	"fmt"
	"os"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

// childEnv makes the test binary run one of children instead of the tests, so that
// a test can kill it.
const childEnv = "SEMEL_INTEGRATION_CHILD"

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		os.Exit(engines.Main(m))
	}
	run, ok := children()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child %q\n", name)
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func children() map[string]func(args []string) error {
	return map[string]func(args []string) error{
		"sqlite-worker": sqliteWorker,
	}
}
