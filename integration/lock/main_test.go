package lock_test

import (
	"os"
	"testing"

	"github.com/semel-go/semel/integration/internal/child"
	"github.com/semel-go/semel/integration/internal/engines"
)

func TestMain(m *testing.M) {
	os.Exit(child.Main(func() int { return engines.Main(m) }, map[string]child.Func{"holder": holder}))
}
