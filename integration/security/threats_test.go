package security

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

var (
	quoted     = regexp.MustCompile("`([^`]+)`")
	namedFile  = regexp.MustCompile(`^[a-z0-9/]+\.go$`)
	namedTest  = regexp.MustCompile(`^[a-z]+\.Test[A-Z]\w*$`)
	namedCase  = regexp.MustCompile(`^storetest: (.+)$`)
	threatRow  = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$`)
	caseInCode = regexp.MustCompile(`Name:\s+"([^"]+)"`)
)

// Every threat has a test that exists, or says that it is not met; the code that it
// names is there.
func TestThreatTable(t *testing.T) {
	t.Parallel()
	root, err := gateway.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := knownTests(t, root)
	rows := threatRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 25 {
		t.Errorf("only %d rows were understood", len(rows))
	}
	for _, row := range rows {
		threat, answer, tests := row[1], row[2], row[3]
		if threat == "threat" || threat == "---" {
			continue
		}
		checkFiles(t, root, threat, answer)
		if n := checkTests(t, known, threat, tests); n == 0 && !strings.Contains(strings.ToLower(answer), "not met by this surface yet") {
			t.Errorf("%s: has no test", threat)
		}
	}
}

func checkFiles(t *testing.T, root, threat, answer string) {
	t.Helper()
	for _, name := range quoted.FindAllStringSubmatch(answer, -1) {
		if !namedFile.MatchString(name[1]) {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, name[1])); err != nil {
			t.Errorf("%s: %v", threat, err)
		}
	}
}

func checkTests(t *testing.T, known map[string]bool, threat, tests string) (found int) {
	t.Helper()
	for _, name := range quoted.FindAllStringSubmatch(tests, -1) {
		if !namedTest.MatchString(name[1]) && !namedCase.MatchString(name[1]) || !known[name[1]] {
			t.Errorf("%s: there is no test %s", threat, name[1])
		}
		found++
	}
	return found
}

// knownTests are all tests as the table names them.
func knownTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(file) > 1 && strings.HasPrefix(path.Base(file), "."):
			return fs.SkipDir
		case strings.HasSuffix(file, "_test.go"):
			return addTests(known, root, file)
		case path.Dir(file) == "storetest" && strings.HasSuffix(file, "_cases.go"):
			return addCases(known, root, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func addTests(known map[string]bool, root, file string) error {
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := strings.TrimSuffix(tree.Name.Name, "_test")
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
			known[pkg+"."+f.Name.Name] = true
		}
	}
	return nil
}

func addCases(known map[string]bool, root, file string) error {
	text, err := os.ReadFile(filepath.Join(root, file))
	for _, name := range caseInCode.FindAllSubmatch(text, -1) {
		known["storetest: "+string(name[1])] = true
	}
	return err
}
