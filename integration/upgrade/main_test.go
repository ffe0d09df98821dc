package upgrade

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

var writeFixture = flag.Bool("write-fixture", false, "write the fixture of the current record format, if there is none")

// childEnv makes the test binary the older one of two programs on a store.
const childEnv = "SEMEL_UPGRADE_CHILD"

func TestMain(m *testing.M) {
	flag.Parse()
	where := os.Getenv(childEnv)
	if where == "" {
		os.Exit(engines.Main(m))
	}
	if err := olderProgram(where); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
