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

// sums are the lines of go.sum of the modules of a release, by path.
type sums map[string][]string

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

// siblings returns the folders of the released modules beside the core, each after
// those that it needs.
func (r *release) siblings() (dirs []string, err error) {
	found, err := r.find()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{core: true}
	for len(found) > 0 {
		n := len(found)
		found = slices.DeleteFunc(found, func(s sibling) bool {
			if s.needs(known) {
				return false
			}
			known[s.mod.Module.Mod.Path] = true
			dirs = append(dirs, s.dir)
			return true
		})
		if len(found) == n {
			return nil, fmt.Errorf("%s: replaces a module that is not released, or that needs this one", found[0].dir)
		}
	}
	return dirs, nil
}

// sibling is a released module beside the core.
type sibling struct {
	dir string
	mod *modfile.File
}

// needs reports a replaced module that is not among the known ones.
func (s *sibling) needs(known map[string]bool) bool {
	return slices.ContainsFunc(s.mod.Replace, func(rep *modfile.Replace) bool { return !known[rep.Old.Path] })
}

// find looks for the go.mod of each sibling.
func (r *release) find() (all []sibling, err error) {
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
		if d.Name() != "go.mod" || rel == "go.mod" {
			return nil
		}
		mod, err := parse(filepath.Dir(path))
		all = append(all, sibling{filepath.Dir(path), mod})
		return err
	})
	return all, err
}

func parse(dir string) (*modfile.File, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	return modfile.Parse("go.mod", data, nil)
}

// prepare rewrites the go.mod and go.sum of each sibling in place.
func (r *release) prepare() error {
	s, err := r.coreSums()
	if err != nil {
		return err
	}
	dirs, err := r.siblings()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if _, err := r.rewrite(dir, dir, s); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// rewrite writes go.mod and go.sum of the module in src, as the release has them,
// into dst, which is src or a copy of it. It adds the module's own sums to s and
// returns its path.
func (r *release) rewrite(src, dst string, s sums) (path string, err error) {
	mod, err := parse(src)
	if err != nil {
		return "", err
	}
	for _, rep := range mod.Replace {
		old := rep.Old // dropping it empties rep
		if err := errors.Join(mod.DropReplace(old.Path, old.Version), mod.AddRequire(old.Path, r.version)); err != nil {
			return "", err
		}
	}
	mod.Cleanup()
	out, err := mod.Format()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dst, "go.mod"), out, 0o644); err != nil {
		return "", err
	}
	if err := writeSums(src, dst, mod, s); err != nil {
		return "", err
	}
	path = mod.Module.Mod.Path
	s[path], err = r.sumsOf(path, dst)
	return path, err
}

// writeSums puts the sums of the release's own modules into a go.sum, those that mod
// requires.
func writeSums(src, dst string, mod *modfile.File, s sums) error {
	old, err := os.ReadFile(filepath.Join(src, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var lines []string
	for _, req := range mod.Require {
		lines = append(lines, s[req.Mod.Path]...)
	}
	for line := range strings.Lines(string(old)) {
		if path, _, _ := strings.Cut(line, " "); s[path] == nil {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dst, "go.sum"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// coreSums begins the sums with those of the core.
func (r *release) coreSums() (sums, error) {
	lines, err := r.sumsOf(core, r.root)
	return sums{core: lines}, err
}

// sumsOf returns the lines of go.sum for a module as it will be published.
func (r *release) sumsOf(path, dir string) ([]string, error) {
	zip, err := os.CreateTemp("", "semel-module-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(zip.Name())
	defer zip.Close()
	if err := modzip.CreateFromDir(zip, module.Version{Path: path, Version: r.version}, dir); err != nil {
		return nil, err
	}
	whole, err := dirhash.HashZip(zip.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, opener(mod))
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s", path, r.version, whole),
		fmt.Sprintf("%s %s/go.mod %s", path, r.version, modSum),
	}, nil
}
