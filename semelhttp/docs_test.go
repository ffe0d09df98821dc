package semelhttp_test

import (
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// docs/defaults.md has a row for every option.
func TestDefaultsAreComplete(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/defaults.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []any{semel.Options{}, semel.Op{}, semelhttp.Options{}, semelhttp.CORSOptions{}} {
		for field := range reflect.TypeOf(options).Fields() {
			row := regexp.MustCompile(`(?m)^\| ([A-Za-z]+, )*` + field.Name + `(, [A-Za-z]+)* \|`)
			if !row.Match(text) {
				t.Errorf("docs/defaults.md has no row for %T.%s", options, field.Name)
			}
		}
	}
}

// docs/problems.md and docs/errors.md have every code.
func TestProblemsAreDocumented(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("problem.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Code\s+= "([a-z-]+)"`).FindAllSubmatch(source, -1) {
		for doc, form := range map[string]string{"../docs/problems.md": "## " + string(m[1]) + "\n", "../docs/errors.md": "`" + string(m[1]) + "`"} {
			text, err := os.ReadFile(doc)
			if err != nil || !regexp.MustCompile(regexp.QuoteMeta(form)).Match(text) {
				t.Errorf("%s has nothing on %s (%v)", doc, m[1], err)
			}
		}
	}
}
