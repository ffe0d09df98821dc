package policy

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// block is fenced text of a document.
type block struct {
	lang  string
	lines []string
}

// document is a parsed Markdown file; its prose has no fenced blocks.
type document struct {
	path   string
	prose  string
	blocks []block
	levels []int // of its headings
	slugs  map[string]bool
}

func documents(t *testing.T) []document {
	t.Helper()
	var docs []document
	for _, p := range files(t, ".md") {
		docs = append(docs, parseDocument(p, read(t, p)))
	}
	return docs
}

func parseDocument(path, text string) document {
	d := document{path: path, slugs: map[string]bool{}}
	var open *block
	var prose []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{lang: strings.TrimLeft(strings.TrimSpace(line), "`")}
		case fence:
			d.blocks = append(d.blocks, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		default:
			prose = append(prose, line)
			d.heading(line)
		}
	}
	d.prose = strings.Join(prose, "\n")
	return d
}

func (d *document) heading(line string) {
	title := strings.TrimLeft(line, "#")
	level := len(line) - len(title)
	if level == 0 || !strings.HasPrefix(title, " ") {
		return
	}
	d.levels = append(d.levels, level)
	d.slugs[slug(strings.TrimSpace(title))] = true
}

// slug is the anchor that GitHub makes of a heading.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, linkPattern.ReplaceAllString(title, "$1"))
}

var (
	linkPattern = regexp.MustCompile(`\[([^\]\n]*)\]\(([^)\s]+)\)`)
	codePattern = regexp.MustCompile("`([^`\n]+)`")
)

// links are the targets that lead to something in the repository.
func (d *document) links() []string {
	var links []string
	for _, m := range linkPattern.FindAllStringSubmatch(codePattern.ReplaceAllString(d.prose, "code"), -1) {
		if !strings.Contains(m[2], "://") && !strings.HasPrefix(m[2], "mailto:") {
			links = append(links, m[2])
		}
	}
	return links
}

// code are the blocks in one of the languages.
func (d *document) code(langs ...string) []block {
	var found []block
	for _, b := range d.blocks {
		for _, lang := range langs {
			if b.lang == lang {
				found = append(found, b)
			}
		}
	}
	return found
}

func TestParseDocument(t *testing.T) {
	t.Parallel()
	d := parseDocument("x.md", "# A [b](c.md) & D\n\n```go\n# not a heading\n```\nSee [x](y.md#z), [w](https://w), `[a](b)`.\n")
	if len(d.blocks) != 1 || d.blocks[0].lang != "go" || len(d.blocks[0].lines) != 1 {
		t.Errorf("blocks %v", d.blocks)
	}
	if len(d.levels) != 1 || !d.slugs["a-b--d"] {
		t.Errorf("headings %v %v", d.levels, d.slugs)
	}
	if links := d.links(); len(links) != 2 || links[0] != "c.md" || links[1] != "y.md#z" {
		t.Errorf("links %v", links)
	}
}
