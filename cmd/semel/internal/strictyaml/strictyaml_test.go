package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
)

// walk reads a file as a program with these keys would.
func walk(data []byte) error {
	file, root := strictyaml.Parse("f.yaml", data)
	m := root.Mapping("name", "on", "size", "items")
	m["name"].Text()
	m["on"].Bool()
	m["size"].Count()
	for _, item := range m["items"].List() {
		item.Mapping("name")["name"].Text()
	}
	return file.Err()
}

func TestGood(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing\n", "---\n", "{}", "name: x", "name: 12", "name: 1.5", "on: true", "size: 3",
		"items: []", "items:\n  - name: x\n  - {name: y}",
		"items:\n  - &a {name: x}\n  - *a",
	} {
		if err := walk([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each mistake is told with its line, and with the key that was meant.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"name: x\nnmae: y", `f.yaml:2: "nmae" is no key here; did you mean name?`},
		{"NAME: x", "did you mean name?"},
		{"items:\n  - name: x\n  - titel: y", `f.yaml:3: "titel" is no key in items[1]; choose from name`},
		{"name: x\n\nname: y", "f.yaml:3: name stands in line 1 already"},
		{"name:", "f.yaml:1: name has no value; write one, or take the line out"},
		{"name: [x]", "f.yaml:1: name: this has to be a single value"},
		{"name: true", "f.yaml:1: name: this has to be a single value"},
		{"on: yes", "f.yaml:1: on: this has to be true or false"},
		{"on: 'true'", "f.yaml:1: on: this has to be true or false"},
		{"size: 0", "f.yaml:1: size: this has to be a whole number of at least 1"},
		{"size: 1.5", "f.yaml:1: size: this has to be a whole number"},
		{"size: '3'", "f.yaml:1: size: this has to be a whole number"},
		{"size: 99999999999999999999", "f.yaml:1: size: this has to be a whole number"},
		{"items: x", "f.yaml:1: items: this has to be a list"},
		{"items:\n- x", "f.yaml:2: items[0]: this has to be a mapping of [name]"},
		{"- x", "f.yaml:1: this has to be a mapping of"},
		{"x", "f.yaml:1: this has to be a mapping of"},
		{"[a]: x", "is no key here"},
		{"<<: {name: x}", "merge keys are not taken"},
		{"name: x\n---\nname: y", "a second document begins"},
		{"name: 'x", "this is no YAML"},
		{"name: x\n\tsize: 1", "f.yaml:2: this is no YAML"},
		{"name: *none", "this is no YAML"},
		{strings.Repeat("#", strictyaml.MaxSize+1), "f.yaml:1: the file is larger than"},
	} {
		err := walk([]byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40q\n got: %v\nwant: %s", tc.text, err, tc.want)
		}
	}
}

func TestAllMistakesInOrder(t *testing.T) {
	t.Parallel()
	err := walk([]byte("size: x\nitems:\n  - nam: x\non: 3\nnmae: x"))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, prefix := range []string{"f.yaml:1: ", "f.yaml:3: ", "f.yaml:4: ", "f.yaml:5: "} {
		if len(lines) != 4 || !strings.HasPrefix(lines[i], prefix) {
			t.Fatalf("want four mistakes in the order of their lines, got:\n%v", err)
		}
	}
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	var n strictyaml.Node
	n.Fail("nobody reads this")
	_, text := n.Text()
	if text || n.Present() || n.IsList() || n.IsMapping() || n.Line() != 0 || n.Place() != "" || n.List() != nil || n.Mapping("a") != nil {
		t.Error("an absent node is not absent")
	}
}
