package engines

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// missingError says why this machine cannot run an engine.
type missingError string

func (e missingError) Error() string { return string(e) }

// engine is a kind of server and where to find it.
type engine struct {
	name     string
	packages string   // of Debian
	folders  []string // patterns; those that Debian does not put into PATH
}

// program finds one of the engine's programs: the newest of Debian's, else that of PATH.
func (e engine) program(name string) (string, error) {
	for _, folder := range e.folders {
		found, _ := filepath.Glob(filepath.Join(folder, name))
		slices.SortFunc(found, byVersion)
		if len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", missingError(fmt.Sprintf("%s is not installed; run make setup, or on Debian: sudo apt-get install %s", e.name, e.packages))
	}
	return path, nil
}

// byVersion orders /usr/lib/postgresql/9/bin before …/15/bin.
func byVersion(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
