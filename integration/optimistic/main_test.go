package optimistic

import (
	"os"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }
