package settings_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// The guide's table has each flag with its default.
func TestGuideHasEveryFlag(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	settings.AddProxyFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		preset := " "
		if f.DefValue != "" {
			preset = " `" + f.DefValue + "` "
		}
		row := "| `--" + f.Name + "` |" + preset + "|"
		if !f.Hidden && !strings.Contains(string(guide), row) {
			t.Errorf("docs/gateway.md has no row %q", row)
		}
	})
}
