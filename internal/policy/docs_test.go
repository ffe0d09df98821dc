package policy

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	slugs := map[string]map[string]bool{}
	for _, d := range docs {
		slugs[d.path] = d.slugs
	}
	for _, d := range docs {
		for _, link := range d.links() {
			file, anchor, _ := strings.Cut(link, "#")
			target := d.path
			if file != "" {
				target = path.Join(path.Dir(d.path), file)
			}
			if !exists(target) {
				t.Errorf("%s: nothing is at %s", d.path, link)
			} else if anchor != "" && slugs[target] != nil && !slugs[target][anchor] {
				t.Errorf("%s: %s has no heading #%s", d.path, target, anchor)
			}
		}
	}
}

// Every page of docs can be found from the README or from docs/README.md.
func TestPagesAreLinked(t *testing.T) {
	t.Parallel()
	linked := map[string]bool{"docs/README.md": true}
	for _, d := range documents(t) {
		if d.path != "README.md" && d.path != "docs/README.md" {
			continue
		}
		for _, link := range d.links() {
			file, _, _ := strings.Cut(link, "#")
			linked[path.Join(path.Dir(d.path), file)] = true
		}
	}
	for _, p := range files(t, ".md") {
		if strings.HasPrefix(p, "docs/") && !linked[p] {
			t.Errorf("%s: no link leads there from README.md or docs/README.md", p)
		}
	}
}

// The README shows code before a reader has to scroll, and says the same in both languages.
func TestREADMEs(t *testing.T) {
	t.Parallel()
	english := parseDocument("README.md", read(t, "README.md"))
	chinese := parseDocument("README.zh-CN.md", read(t, "README.zh-CN.md"))
	if !slices.Equal(english.levels, chinese.levels) {
		t.Errorf("the headings have the levels %v, in Chinese %v", english.levels, chinese.levels)
	}
	if len(english.blocks) != len(chinese.blocks) {
		t.Errorf("%d blocks of code, in Chinese %d", len(english.blocks), len(chinese.blocks))
	}
	for i := range min(len(english.blocks), len(chinese.blocks)) {
		a, b := english.blocks[i], chinese.blocks[i]
		if a.lang != b.lang || !slices.Equal(code(a.lines), code(b.lines)) {
			t.Errorf("block %d differs:\n%s\nin Chinese:\n%s", i+1, strings.Join(a.lines, "\n"), strings.Join(b.lines, "\n"))
		}
	}
	if a, b := rows(english), rows(chinese); a != b {
		t.Errorf("%d rows of tables, in Chinese %d", a, b)
	}
	if head := strings.Join(strings.SplitN(read(t, "README.md"), "\n", 26)[:25], "\n"); !strings.Contains(head, "```go\n") {
		t.Error("README.md shows no Go code in its first 25 lines")
	}
}

func rows(d document) int { return strings.Count(d.prose, "\n|") }

// Go code in documents is code that compiles and is tested: each block is a piece
// of some Go file. Indentation, comments and empty lines may differ; "…" stands for
// what was left out.
func TestGoBlocksAreRealCode(t *testing.T) {
	t.Parallel()
	var sources []string
	for _, p := range files(t, ".go") {
		sources = append(sources, flat(strings.Split(read(t, p), "\n")))
	}
	for _, d := range documents(t) {
		for _, b := range d.code("go") {
			for _, part := range parts(b.lines) {
				if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, part) }) {
					t.Errorf("%s: no Go file has these lines; make them a part of an Example:\n%s", d.path, part)
				}
			}
		}
	}
}

// parts splits a block where something was left out.
func parts(lines []string) []string {
	var parts []string
	for chunk := range strings.SplitSeq(strings.Join(lines, "\n"), "…") {
		if part := strings.Trim(flat(strings.Split(chunk, "\n")), "\n"); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// flat is what code comes down to: its lines without indentation and comments.
func flat(lines []string) string { return "\n" + strings.Join(code(lines), "\n") + "\n" }

func code(lines []string) []string {
	var found []string
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " // ")
		line, _, _ = strings.Cut(line, "   # ")
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "# ") {
			found = append(found, line)
		}
	}
	return found
}
