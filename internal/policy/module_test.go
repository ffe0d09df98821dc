package policy

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

const core = "github.com/semel-go/semel"

// A user of the core gets no other module into his build.
func TestCoreRequiresNothing(t *testing.T) {
	t.Parallel()
	mod := read(t, "go.mod")
	for _, directive := range []string{"require", "replace", "tool"} {
		if regexp.MustCompile(`(?m)^` + directive + `\b`).MatchString(mod) {
			t.Errorf("go.mod has a %s directive; third-party code belongs into a module of its own", directive)
		}
	}
	if exists("go.sum") {
		t.Error("the core has a go.sum, so it requires something")
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	for _, mod := range files(t, "go.mod") {
		dir, text := path.Dir(mod), read(t, mod)
		want := path.Join(core, dir)
		if !hasLine(text, "module "+want) {
			t.Errorf("%s: the module is not %s", mod, want)
		}
		if !hasLine(text, "go 1.26.0") {
			t.Errorf("%s: want the line: go 1.26.0", mod)
		}
		if regexp.MustCompile(`(?m)^toolchain\b`).MatchString(text) {
			t.Errorf("%s: a toolchain line is forced on everybody who builds this", mod)
		}
		if strings.Contains(text, core+" v") && !replacesCore(text, dir) {
			t.Errorf("%s: want replace %s => the path of the root", mod, core)
		}
	}
}

// replacesCore says that the go.mod in dir takes the core from this checkout.
func replacesCore(text, dir string) bool {
	m := regexp.MustCompile(`(?m)^replace ` + regexp.QuoteMeta(core) + ` => (\S+)$`).FindStringSubmatch(text)
	return m != nil && path.Join(dir, m[1]) == "."
}

// The workspace has every module but the tools, whose requirements must not lift
// the versions that are tested and shipped.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	work := read(t, "go.work")
	if !hasLine(work, "go 1.26.0") {
		t.Error("go.work: want the line: go 1.26.0")
	}
	for _, mod := range files(t, "go.mod") {
		dir := path.Dir(mod)
		tool := dir == "tools" || strings.HasPrefix(dir, "tools/")
		entry := "\t."
		if dir != "." {
			entry = "\t./" + dir
		}
		if hasLine(work, entry) == tool {
			t.Errorf("go.work: uses %s: %v, want %v", dir, tool, !tool)
		}
	}
}

func hasLine(text, line string) bool { return strings.Contains("\n"+text+"\n", "\n"+line+"\n") }
