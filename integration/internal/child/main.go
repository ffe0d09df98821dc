package child

import (
	"fmt"
	"os"
)

// env makes the test binary run a child instead of the tests.
const env = "SEMEL_INTEGRATION_CHILD"

// Func is what a child does.
type Func func(args []string) error

// Main is the TestMain of packages with children: it calls tests, or in a child that
// child's function, and returns the exit code.
func Main(tests func() int, children map[string]Func) int {
	name := os.Getenv(env)
	if name == "" {
		return tests()
	}
	run, ok := children[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child %q\n", name)
		return 2
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
