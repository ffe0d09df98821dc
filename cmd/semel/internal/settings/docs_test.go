package settings_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/semelhttp"
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

// The example of the configuration's guide is a configuration, and has every key.
func TestGuidesExample(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../../docs/gateway-config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/gateway-config.md has no example")
	}
	cfg, err := loadFile(t, example, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Routes) != 10 {
		t.Errorf("%d routes, want 10", len(cfg.Routes))
	}
	for _, key := range settings.FileKeys() {
		if !strings.Contains(example, key+":") {
			t.Errorf("the example has no %s", key)
		}
	}
}

func TestGuideNamesTheSenders(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../../docs/gateway-config.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, sender := range semelhttp.WebhookSenders() {
		if !strings.Contains(string(guide), "`"+sender+"`") {
			t.Errorf("docs/gateway-config.md does not name the sender %s", sender)
		}
	}
}
