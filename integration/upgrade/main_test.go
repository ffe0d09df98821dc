package upgrade

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var writeFixture = flag.Bool("write-fixture", false, "write the fixture of the current record format, if there is none")

// childEnv makes the test binary the older one of two programs on a store.
const childEnv = "SEMEL_UPGRADE_CHILD"

func TestMain(m *testing.M) {
	flag.Parse()
	file := os.Getenv(childEnv)
	if file == "" {
		os.Exit(m.Run())
	}
	if err := olderProgram(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
