package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

const preface = `# Performance

Measured by ` + "`bench/`" + `: contenders take turns in short windows, and the best window of each counts. Ratios within a table count; absolute figures are those of
the machine that stands under the table, where client and servers share the cores. *Speed* is cycles per second, *thrift* cycles per second of CPU (client and server with
all its processes together): 2.00× is twice as good as the first row. ` + "`make bench`" + ` starts private servers, measures again and writes this page.

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

// withSection puts the section into the document, below the preface as it is now.
func withSection(doc, name, text string) string {
	if _, rest, found := strings.Cut(doc, "<!-- bench:"); found {
		doc = preface + "<!-- bench:" + rest
	}
	begin, end := "<!-- bench:"+name+" -->\n", "<!-- /bench:"+name+" -->\n"
	section := begin + text + end
	head, rest, found := strings.Cut(doc, begin)
	if !found {
		return strings.TrimRight(doc, "\n") + "\n\n" + section
	}
	_, tail, _ := strings.Cut(rest, end)
	return head + section + tail
}
