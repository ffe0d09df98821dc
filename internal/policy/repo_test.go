package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// paths are the files of the repository, relative to its root, with slashes.
var paths = sync.OnceValues(func() ([]string, error) {
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(p):
			return fs.SkipDir
		case !d.IsDir():
			found = append(found, p)
		}
		return nil
	})
	return found, err
})

// foreign says that a folder holds what the repository does not keep.
func foreign(dir string) bool {
	return slices.Contains([]string{".git", ".cache", "bin", "dist", "node_modules"}, path.Base(dir))
}

// files returns the paths that end in suffix.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	all, err := paths()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range all {
		if strings.HasSuffix(p, suffix) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		t.Fatalf("the repository has no %s", suffix)
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func exists(file string) bool {
	_, err := os.Stat(filepath.Join(root, file))
	return err == nil
}

// parsed is a Go file of the repository.
type parsed struct {
	path string
	set  *token.FileSet
	tree *ast.File
}

// goFiles parses every Go file once for all tests.
var goFiles = sync.OnceValues(func() ([]parsed, error) {
	all, err := paths()
	if err != nil {
		return nil, err
	}
	var found []parsed
	for _, p := range all {
		if !strings.HasSuffix(p, ".go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, filepath.Join(root, p), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		found = append(found, parsed{p, set, tree})
	}
	return found, nil
})

func goTrees(t *testing.T) []parsed {
	t.Helper()
	trees, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	return trees
}

// at is the place of a node, for messages.
func (f parsed) at(n ast.Node) string {
	pos := f.set.Position(n.Pos())
	pos.Filename = f.path
	return pos.String()
}

func (f parsed) imports(path string) bool {
	return slices.ContainsFunc(f.tree.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"`+path+`"` })
}

func (f parsed) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }
