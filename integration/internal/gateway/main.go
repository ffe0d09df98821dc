package gateway

import (
	"fmt"
	"os"
	"testing"
)

// Main is the TestMain of packages whose tests run the binary: it builds it once,
// puts its path into binary, runs the tests and takes the binary away again.
func Main(m *testing.M, binary *string) (code int) { return With(binary, m.Run) }

// With is Main for a TestMain that runs the tests in its own way.
func With(binary *string, run func() int) (code int) {
	dir, err := os.MkdirTemp("", "semel-binary-")
	if err == nil {
		defer os.RemoveAll(dir)
		*binary, err = Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}
