package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

const preface = `# Performance

Measured by ` + "`bench/`" + `: contenders take turns in short windows, and the best window of each counts. Ratios within a table count; absolute figures are those of
the machine they were taken on. *Speed* is cycles per second, *thrift* cycles per second of CPU (client and store together): 2.00× is twice as good as the first row. ` + "`make bench`" + ` measures again.

`

// writeSection replaces the section of a suite in the file, or appends it.
func writeSection(file, name, text string) error {
	old, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(preface), nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(withSection(string(old), name, text)), 0o644)
}

func withSection(doc, name, text string) string {
	begin, end := "<!-- bench:"+name+" -->\n", "<!-- /bench:"+name+" -->\n"
	section := begin + text + end
	head, rest, found := strings.Cut(doc, begin)
	if !found {
		return strings.TrimRight(doc, "\n") + "\n\n" + section
	}
	_, tail, _ := strings.Cut(rest, end)
	return head + section + tail
}
