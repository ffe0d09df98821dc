package policy

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPackagesHaveComments(t *testing.T) {
	t.Parallel()
	comments := map[string]string{} // by folder
	for _, f := range goTrees(t) {
		if name := f.tree.Name.Name; !f.isTest() {
			comments[path.Dir(f.path)] += f.tree.Doc.Text()
			if doc := f.tree.Doc.Text(); doc != "" && name != "main" && !strings.HasPrefix(doc, "Package "+name+" ") {
				t.Errorf("%s: the comment does not begin with: Package %s", f.path, name)
			}
		}
	}
	for dir, comment := range comments {
		if comment == "" {
			t.Errorf("%s: the package has no comment; a doc.go says what it is for", dir)
		}
	}
}

// What users see is documented; connect, zap and go-cloud show that all of it can be.
func TestExportedNamesHaveComments(t *testing.T) {
	t.Parallel()
	for _, f := range goTrees(t) {
		if f.isTest() || f.tree.Name.Name == "main" || slices.Contains(strings.Split(f.path, "/"), "internal") {
			continue
		}
		for _, decl := range f.tree.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s has no comment", f.at(name), name.Name)
			}
		}
	}
}

// undocumented returns the exported names of a declaration that no comment stands at.
// An Error method needs none: its type says when the error is met.
func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d)) && d.Name.Name != "Error") {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(d, spec)...)
		}
		return names
	}
	return nil
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if s.Doc == nil && s.Comment == nil && d.Doc == nil {
			return slices.DeleteFunc(slices.Clone(s.Names), func(n *ast.Ident) bool { return !n.IsExported() })
		}
	}
	return nil
}

func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	name, _ := typ.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// A test that sleeps is slow where the machine is fast and fails where it is slow.
// In a synctest bubble time is not real.
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	for _, f := range goTrees(t) {
		if !f.isTest() || f.imports("testing/synctest") {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s: wait for a signal, or use testing/synctest", f.at(n))
				}
			}
			return true
		})
	}
}

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, f := range goTrees(t) {
		if lines := f.set.File(f.tree.Pos()).LineCount(); lines > 500 {
			t.Errorf("%s: %d lines; a file has one concept and at most 500", f.path, lines)
		}
	}
}

// Nothing is left for later in comments: it is an issue, or it is done.
func TestNothingIsLeftForLater(t *testing.T) {
	t.Parallel()
	later := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
	for _, suffix := range []string{".go", ".md", ".sh", ".yml", ".sql", "Makefile", "scripts/setup", "scripts/fuzz", ".ci/run"} {
		all, err := paths()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if strings.HasSuffix(p, suffix) {
				for _, m := range later.FindAllString(read(t, p), -1) {
					t.Errorf("%s: has %s", p, m)
				}
			}
		}
	}
}

// No vague rooms: a package is named for what it has, not that it is of use.
func TestPackageNames(t *testing.T) {
	t.Parallel()
	for _, f := range goTrees(t) {
		if name := f.tree.Name.Name; slices.Contains([]string{"util", "utils", "common", "helpers", "misc"}, name) {
			t.Errorf("%s: package %s says nothing", f.path, name)
		}
	}
}
