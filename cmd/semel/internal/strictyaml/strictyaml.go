// Package strictyaml reads a YAML file that has to be exactly what its reader
// expects: a key that nobody asks for, a value of another type and a key that
// stands there twice are mistakes, each told with its line.
//
// The reader walks the file and takes what it finds; mistakes are collected on
// the way and are all in [File.Err] in the end:
//
//	file, root := strictyaml.Parse("semel.yaml", data)
//	m := root.Mapping("listen", "routes")
//	listen, ok := m["listen"].Text()
//	…
//	return file.Err()
//
// A node that is absent or wrong reads as absent, so that one mistake is told
// once. Aliases are followed; merge keys are refused.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/semel-go/semel/cmd/semel/internal/spelling"
)

// MaxSize is the size in bytes from which on a file is refused.
const MaxSize = 1 << 20

// File collects the mistakes of one file.
type File struct {
	name     string
	mistakes []mistake
}

type mistake struct {
	line int
	text string
}

// Err joins all mistakes in the order of their lines, each as NAME:LINE: text.
// It is nil if there are none.
func (f *File) Err() error {
	slices.SortStableFunc(f.mistakes, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, len(f.mistakes))
	for i, m := range f.mistakes {
		errs[i] = fmt.Errorf("%s:%d: %s", f.name, m.line, m.text)
	}
	return errors.Join(errs...)
}

func (f *File) fail(line int, format string, args ...any) {
	f.mistakes = append(f.mistakes, mistake{max(line, 1), fmt.Sprintf(format, args...)})
}

// Parse reads data, whose name is for messages. The node is absent if the file
// is empty or broken; the mistakes tell which.
func Parse(name string, data []byte) (*File, Node) {
	f := &File{name: name}
	if len(data) > MaxSize {
		f.fail(1, "the file is larger than %d bytes", MaxSize)
		return f, Node{}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return f, Node{}
	case err != nil:
		f.failSyntax(err)
		return f, Node{}
	}
	if err := decoder.Decode(&next); !errors.Is(err, io.EOF) {
		f.fail(next.Line, "a second document begins; keep one")
		return f, Node{}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || isNull(doc.Content[0]) {
		return f, Node{}
	}
	return f, Node{file: f, y: doc.Content[0]}
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// failSyntax tells the decoder's error as the others are told.
func (f *File) failSyntax(err error) {
	text, line := err.Error(), 1
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		line, _ = strconv.Atoi(m[1]) // 0 is told as 1
	}
	f.fail(line, "this is no YAML: %s", text)
}

func isNull(y *yaml.Node) bool { return y.Kind == yaml.ScalarNode && y.ShortTag() == "!!null" }

// fewKeys are as many as an error names all of.
const fewKeys = 12

// unknown reports a key that nobody asked for.
func (n Node) unknown(key *yaml.Node, known []string) {
	where := "here"
	if n.path != "" {
		where = "in " + n.path
	}
	if key.Value == "<<" {
		n.file.fail(key.Line, "merge keys are not taken; write the keys out")
		return
	}
	hint := spelling.Hint(strings.ToLower(key.Value), "", known)
	if hint == "" && len(known) <= fewKeys {
		hint = "; choose from " + strings.Join(known, ", ")
	}
	n.file.fail(key.Line, "%q is no key %s%s", key.Value, where, hint)
}
