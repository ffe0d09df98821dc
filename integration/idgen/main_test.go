package idgen

import (
	"os"
	"testing"

	"github.com/semel-go/semel/integration/internal/child"
	"github.com/semel-go/semel/integration/internal/engines"
)

func TestMain(m *testing.M) {
	tests := func() int { return engines.Main(m) }
	os.Exit(child.Main(tests, map[string]child.Func{"issuer": issuer}))
}
