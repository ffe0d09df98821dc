package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
)

// file is a configuration file that has been walked but for its routes and form tokens.
type file struct {
	yaml       *strictyaml.File
	routes     strictyaml.Node
	formTokens strictyaml.Node
	errs       []error // with their lines
}

// readFile reads the file that --config names and gives its values to the flags
// that nothing else has set. Without --config it is empty.
func readFile(fs *pflag.FlagSet) (*file, error) {
	forget(fs)
	path := flagText(fs, "config").value
	if path == "" {
		return &file{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return parseFile(fs, filepath.Base(path), data)
}

// forget takes the values of an earlier file back.
func forget(fs *pflag.FlagSet) {
	for _, f := range proxyFlags {
		if !fs.Lookup(f.name).Changed {
			t := flagText(fs, f.name)
			t.value, t.from = f.preset, ""
		}
	}
}

// parseFile walks a file's settings. Its mistakes are in file.err, unless it cannot be
// read at all: then nobody knows what it sets, and nothing else is to be told.
func parseFile(fs *pflag.FlagSet, name string, data []byte) (*file, error) {
	doc, root := strictyaml.Parse(name, data)
	if err := doc.Err(); err != nil {
		return nil, err
	}
	values := root.Mapping(append(fileFlags(), onlyInFile...)...)
	for _, f := range proxyFlags {
		node := values[f.name]
		value, ok := flagValue(f, node)
		if ok && !fs.Lookup(f.name).Changed {
			t := flagText(fs, f.name)
			t.value, t.from = value, node.Place()+": "+f.name
		}
	}
	return &file{yaml: doc, routes: values["routes"], formTokens: values["form-tokens"]}, nil
}

// onlyInFile are the settings that are no flags.
var onlyInFile = []string{"routes", "form-tokens"}

// fileFlags are the flags that a file may set.
func fileFlags() []string {
	return slices.DeleteFunc(flagNames(), func(name string) bool { return name == "config" })
}

// FileKeys are the keys of a file, those of its routes and form tokens included.
func FileKeys() []string {
	return slices.Concat(fileFlags(), onlyInFile, routeKeys, formTokenKeys, tokenEndpointKeys)
}

// flagValue is a value as the flag would be written: lists with commas.
func flagValue(f flag, node strictyaml.Node) (string, bool) {
	switch {
	case !node.Present():
		return "", false
	case f.kind == "bool":
		value, ok := node.Bool()
		return fmt.Sprint(value), ok
	case f.kind == "LIST" && node.IsList():
		return commaList(node)
	}
	return node.Text()
}

func commaList(node strictyaml.Node) (string, bool) {
	var list []string
	for _, element := range node.List() {
		text, ok := element.Text()
		if !ok {
			return "", false
		}
		if strings.Contains(text, ",") || strings.TrimSpace(text) == "" {
			element.Fail("write one value in each line, and no comma")
			return "", false
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		node.Fail("the list is empty; take it out, or say what belongs there")
		return "", false
	}
	return strings.Join(list, ","), true
}

func (f *file) err() error {
	if f.yaml == nil {
		return nil
	}
	return errors.Join(f.yaml.Err(), errors.Join(f.errs...))
}
