// Package gateway builds the semel binary as `make build` does, and runs it for
// tests.
package gateway

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// Root is the folder of the repository.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.work above this folder")
		}
		dir = filepath.Dir(dir)
	}
}

var buildRecipe = regexp.MustCompile(`(?m)^build:.*\n\t@?(.* -o )bin/semel( .*)$`)

// Build makes the binary in dir with the recipe of the Makefile, and returns its
// path.
func Build(dir string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return "", err
	}
	recipe := buildRecipe.FindSubmatch(makefile)
	if recipe == nil {
		return "", errors.New("the Makefile's build target does not end in: go build … -o bin/semel …")
	}
	file := filepath.Join(dir, "semel")
	build := exec.Command("bash", "-c", string(recipe[1])+`"$1"`+string(recipe[2]), "build", file)
	build.Dir = root
	build.Env = append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("semel cannot be built: %w\n%s", err, out)
	}
	return file, nil
}
