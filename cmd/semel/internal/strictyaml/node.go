package strictyaml

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Node is a value in a file. The zero Node is absent: it reads as nothing, and no
// mistake is told of it.
type Node struct {
	file *File
	y    *yaml.Node
	path string // such as routes[1].lease
}

// Present reports whether there is a value.
func (n Node) Present() bool { return n.y != nil }

// Line is where the value stands, 0 for an absent one.
func (n Node) Line() int {
	if n.y == nil {
		return 0
	}
	return n.y.Line
}

// Place is the value's file and line, for messages that are made elsewhere.
func (n Node) Place() string {
	if n.y == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", n.file.name, n.y.Line)
}

// Path is where the value is in the file's structure, such as routes[1].lease.
func (n Node) Path() string { return n.path }

// Fail reports that the value is wrong. It does nothing for an absent one.
func (n Node) Fail(format string, args ...any) {
	if n.y == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if n.path != "" {
		text = n.path + ": " + text
	}
	n.file.fail(n.y.Line, "%s", text)
}

// Mapping returns the values by their keys, which have to be among known.
func (n Node) Mapping(known ...string) map[string]Node {
	y := n.resolved()
	if y == nil {
		return nil
	}
	if y.Kind != yaml.MappingNode {
		n.Fail("this has to be a mapping of %s", list(known))
		return nil
	}
	values := make(map[string]Node, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		n.entry(values, y.Content[i], y.Content[i+1], known)
	}
	return values
}

func (n Node) entry(values map[string]Node, key, value *yaml.Node, known []string) {
	child := Node{file: n.file, y: value, path: joined(n.path, key.Value)}
	first, twice := values[key.Value]
	switch {
	case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
		n.unknown(key, known)
	case twice:
		n.file.fail(key.Line, "%s stands in line %d already", child.path, first.Line())
	case isNull(value):
		n.file.fail(key.Line, "%s has no value; write one, or take the line out", child.path)
	default:
		values[key.Value] = child
	}
}

// List returns the elements of a sequence.
func (n Node) List() []Node {
	y := n.resolved()
	if y == nil {
		return nil
	}
	if y.Kind != yaml.SequenceNode {
		n.Fail("this has to be a list")
		return nil
	}
	nodes := make([]Node, len(y.Content))
	for i, element := range y.Content {
		nodes[i] = Node{file: n.file, y: element, path: n.path + "[" + strconv.Itoa(i) + "]"}
	}
	return nodes
}

// IsList reports whether the value is a sequence.
func (n Node) IsList() bool {
	y := n.resolved()
	return y != nil && y.Kind == yaml.SequenceNode
}

// IsMapping reports whether the value is a mapping.
func (n Node) IsMapping() bool {
	y := n.resolved()
	return y != nil && y.Kind == yaml.MappingNode
}

// Text returns a scalar as it is written: a string, or a number.
func (n Node) Text() (string, bool) {
	return n.scalar("a single value", "!!str", "!!int", "!!float")
}

// Bool returns true or false.
func (n Node) Bool() (value, ok bool) {
	text, ok := n.scalar("true or false", "!!bool")
	if !ok {
		return false, false
	}
	value, err := strconv.ParseBool(text)
	if err != nil { // YAML knows more spellings than that
		n.Fail("write true or false")
	}
	return value, err == nil
}

// Count returns a whole number of at least 1.
func (n Node) Count() (int, bool) {
	const want = "a whole number of at least 1"
	text, ok := n.scalar(want, "!!int")
	if !ok {
		return 0, false
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		n.Fail("this has to be %s", want)
		return 0, false
	}
	return count, true
}

// scalar returns the text of a scalar of one of the types.
func (n Node) scalar(want string, tags ...string) (string, bool) {
	y := n.resolved()
	if y == nil {
		return "", false
	}
	if y.Kind != yaml.ScalarNode || !slices.Contains(tags, y.ShortTag()) {
		n.Fail("this has to be %s", want)
		return "", false
	}
	return y.Value, true
}

// resolved follows an alias, which YAML lets lead to no other alias.
func (n Node) resolved() *yaml.Node {
	if n.y != nil && n.y.Kind == yaml.AliasNode {
		return n.y.Alias
	}
	return n.y
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func list(words []string) string {
	const few = 6
	if len(words) <= few {
		return fmt.Sprintf("%v", words)
	}
	return fmt.Sprintf("%v and others", words[:few])
}
