package policy

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// command is what a document tells a reader to type.
type command struct {
	doc   string
	words []string
}

func (c command) String() string { return c.doc + ": " + strings.Join(c.words, " ") }

// commands are the lines of shell blocks and the code in prose that begin with a
// program of ours.
func commands(t *testing.T) []command {
	t.Helper()
	var found []command
	for _, d := range documents(t) {
		for _, b := range d.code("sh", "bash", "console", "shell") {
			for line := range strings.Lines(strings.ReplaceAll(strings.Join(b.lines, "\n"), "\\\n", " ")) {
				found = append(found, parseCommands(d.path, line)...)
			}
		}
		for _, m := range codePattern.FindAllStringSubmatch(d.prose, -1) {
			found = append(found, parseCommands(d.path, m[1])...)
		}
	}
	if len(found) == 0 {
		t.Fatal("no document shows a command")
	}
	return found
}

func parseCommands(doc, line string) []command {
	line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
	line, _, _ = strings.Cut(line, " # ")
	var found []command
	for _, part := range regexp.MustCompile(`&&|\|\||[|;&]`).Split(line, -1) {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") { // settings of the environment
			words = words[1:]
		}
		if len(words) > 1 {
			found = append(found, command{doc, words})
		}
	}
	return found
}

func TestMakeCommandsExist(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	for _, c := range commands(t) {
		if c.words[0] != "make" {
			continue
		}
		for _, target := range c.words[1:] {
			if !strings.Contains(target, "=") && !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("%v: the Makefile has no target %s", c, target)
			}
		}
	}
}

// make help lists what a person calls, and each of its lines is a target.
func TestMakefileIsPhony(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(makefile, -1) {
		if !hasLine(makefile, ".PHONY: "+m[1]) {
			t.Errorf("Makefile: %s makes no file of that name and is not .PHONY", m[1])
		}
	}
}

// A path in a command is one of the repository, and what go run gets is a program.
func TestCommandPathsExist(t *testing.T) {
	t.Parallel()
	for _, c := range commands(t) {
		for i, word := range c.words {
			dir, isPath := strings.CutPrefix(strings.TrimSuffix(word, "/..."), "./")
			if isPath && i > 0 && c.words[i-1] != "-o" && !exists(dir) {
				t.Errorf("%v: there is no %s", c, word)
			}
			if isPath && c.words[0] == "go" && c.words[1] == "run" && i == 2 && !isProgram(t, dir) {
				t.Errorf("%v: %s is no program", c, word)
			}
		}
		if program := c.words[0]; strings.HasPrefix(program, "scripts/") || strings.HasPrefix(program, "examples/") {
			if !exists(program) {
				t.Errorf("%v: there is no %s", c, program)
			}
		}
	}
}

func isProgram(t *testing.T, dir string) bool {
	return slices.ContainsFunc(goTrees(t), func(f parsed) bool {
		return filepath.ToSlash(filepath.Dir(f.path)) == strings.TrimSuffix(dir, "/") && f.tree.Name.Name == "main"
	})
}

// semel's subcommands and flags in documents are those of its source: a command is
// the first word of a Use field, a flag a string of its own.
func TestSemelCommandsExist(t *testing.T) {
	t.Parallel()
	uses, words := semelWords(t)
	for _, c := range commands(t) {
		args := semelArguments(c.words)
		if len(args) == 0 || !regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) {
			continue
		}
		if !uses[args[0]] && args[0] != "help" && args[0] != "completion" {
			t.Errorf("%v: semel has no command %s", c, args[0])
		}
		if args[0] == "keys" && len(args) > 1 && !uses[args[1]] {
			t.Errorf("%v: semel keys has no command %s", c, args[1])
		}
		for _, arg := range args {
			flag, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			if strings.HasPrefix(arg, "--") && flag != "" && flag != "help" && !words[flag] {
				t.Errorf("%v: semel has no flag --%s", c, flag)
			}
		}
	}
}

// semelArguments are the arguments of a command that runs semel, else nothing.
func semelArguments(words []string) []string {
	switch {
	case slices.Contains([]string{"semel", "bin/semel", "./bin/semel"}, words[0]):
		return words[1:]
	case len(words) > 3 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/semel":
		return words[3:]
	}
	return nil
}

// semelWords are the first words of the Use fields, and all short strings, of cmd/semel.
func semelWords(t *testing.T) (uses, words map[string]bool) {
	uses, words = map[string]bool{}, map[string]bool{}
	for _, f := range goTrees(t) {
		if f.isTest() || !strings.HasPrefix(f.path, "cmd/semel/") {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Use" {
					use, _, _ := strings.Cut(text(n.Value), " ")
					uses[use] = true
				}
			case *ast.BasicLit:
				words[text(n)] = true
			}
			return true
		})
	}
	return uses, words
}

// text is the value of a string literal, else empty.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// What is called as a program is one.
func TestScriptsAreExecutable(t *testing.T) {
	t.Parallel()
	for _, p := range append([]string{".ci/run"}, files(t, "scripts/setup")...) {
		info, err := os.Stat(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o100 == 0 || !strings.HasPrefix(read(t, p), "#!/usr/bin/env bash\n") {
			t.Errorf("%s is not executable, or has no #! line for bash", p)
		}
	}
}
