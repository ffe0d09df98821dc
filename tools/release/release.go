package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"
)

const core = "github.com/semel-go/semel"

// unreleased are the folders whose modules stay in the repository.
var unreleased = []string{"integration", "bench", "examples", "tools"}

// release is one version of the repository.
type release struct {
	root    string
	version string
}

func newRelease(version string) (*release, error) {
	if semver.Canonical(version) != version || semver.Build(version) != "" {
		return nil, fmt.Errorf("%q is no version; write it like v0.3.0", version)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return &release{root: dir, version: version}, nil
		}
		if dir == filepath.Dir(dir) {
			return nil, errors.New("no go.work above this folder; run it in the repository")
		}
		dir = filepath.Dir(dir)
	}
}

// siblings returns the folders of the released modules beside the core.
func (r *release) siblings() (dirs []string, err error) {
	err = filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains(unreleased, rel) || rel != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.Name() == "go.mod" && rel != "go.mod" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	return dirs, err
}

// prepare rewrites the go.mod and go.sum of each sibling in place.
func (r *release) prepare() error {
	sums, err := r.coreSums()
	if err != nil {
		return err
	}
	dirs, err := r.siblings()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if _, err := r.rewrite(dir, dir, sums); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// rewrite writes go.mod and go.sum of the module in src, as the release has them,
// into dst, and returns the module's path.
func (r *release) rewrite(src, dst string, sums []string) (path string, err error) {
	data, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		return "", err
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return "", err
	}
	for _, rep := range mod.Replace {
		if rep.Old.Path != core {
			return "", fmt.Errorf("replaces %s: only the core may be replaced", rep.Old.Path)
		}
	}
	if err := errors.Join(mod.DropReplace(core, ""), mod.AddRequire(core, r.version)); err != nil {
		return "", err
	}
	mod.Cleanup()
	out, err := mod.Format()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dst, "go.mod"), out, 0o644); err != nil {
		return "", err
	}
	return mod.Module.Mod.Path, writeSums(src, dst, sums)
}

// writeSums adds the sums of the core to a go.sum.
func writeSums(src, dst string, sums []string) error {
	old, err := os.ReadFile(filepath.Join(src, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := slices.Clone(sums)
	for line := range strings.Lines(string(old)) {
		if !strings.HasPrefix(line, core+" ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dst, "go.sum"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// coreSums returns the lines of go.sum for the core as it will be published.
func (r *release) coreSums() ([]string, error) {
	zip, err := os.CreateTemp("", "semel-core-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(zip.Name())
	defer zip.Close()
	if err := modzip.CreateFromDir(zip, module.Version{Path: core, Version: r.version}, r.root); err != nil {
		return nil, err
	}
	whole, err := dirhash.HashZip(zip.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return nil, err
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, opener(mod))
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s", core, r.version, whole),
		fmt.Sprintf("%s %s/go.mod %s", core, r.version, modSum),
	}, nil
}
