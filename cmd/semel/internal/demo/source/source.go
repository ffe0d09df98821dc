// Package source cuts functions out of Go source, so that the demo's page shows the
// code that runs.
package source

import (
	"slices"
	"strings"
)

// Function is the text of a function and of the comment before it, which has to begin
// with its name; empty if the file has none. Tabs become four spaces.
func Function(file, name string) string {
	const end = "\n}\n"
	_, rest, found := strings.Cut(file, "\n\n// "+name+" ")
	body, _, closed := strings.Cut(rest, end)
	if !found || !closed {
		return ""
	}
	return strings.ReplaceAll("// "+name+" "+body+end, "\t", "    ")
}

// Lines are those lines of text that hold one of the fragments, the indent that all of
// them have taken away. A line of its own stands for what is left out in between.
func Lines(text string, fragments ...string) string {
	var kept []string
	last, indent := -1, len(text)
	for n, line := range strings.Split(text, "\n") {
		if !slices.ContainsFunc(fragments, func(f string) bool { return strings.Contains(line, f) }) {
			continue
		}
		indent = min(indent, len(line)-len(strings.TrimLeft(line, " ")))
		if last >= 0 && n > last+1 {
			kept = append(kept, "")
		}
		kept, last = append(kept, line), n
	}
	for i, line := range kept {
		if line == "" {
			kept[i] = "…"
		} else {
			kept[i] = line[indent:]
		}
	}
	return strings.Join(kept, "\n")
}
