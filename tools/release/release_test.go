package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// The proof that a stranger can install the released binary: go install from a
// module proxy that holds what the release commit would.
func TestInstallFromAModuleProxy(t *testing.T) {
	t.Parallel()
	proxy, bin := t.TempDir(), t.TempDir()
	if err := run([]string{"proxy", "v0.0.1-proof", proxy}); err != nil {
		t.Fatal(err)
	}
	command(t, bin, proxy, "go", "install", "github.com/semel-go/semel/cmd/semel@v0.0.1-proof")
	out := command(t, bin, proxy, filepath.Join(bin, "semel"), "version")
	if !strings.Contains(out, "v0.0.1-proof") {
		t.Errorf("semel version says %q", out)
	}
}

// command runs a program in an empty folder and with a module cache of its own.
// Other modules come from the usual cache, which is laid out as a proxy, before the
// usual proxies.
func command(t *testing.T, bin, proxy, name string, args ...string) string {
	t.Helper()
	usual := strings.Fields(output(t, "go", "env", "GOMODCACHE", "GOPROXY"))
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOWORK=off", "GONOSUMDB=*", "GOFLAGS=-modcacherw -trimpath", "GOMODCACHE="+t.TempDir(),
		fmt.Sprintf("GOPROXY=file://%s,file://%s/cache/download,%s", filepath.ToSlash(proxy), filepath.ToSlash(usual[0]), usual[1]))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The release commit: no replace is left, the core and the siblings that were
// replaced are required at the version, and their sums are there.
func TestPrepareDropsTheReplaces(t *testing.T) {
	t.Parallel()
	r, err := newRelease("v0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := r.siblings()
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	s, err := r.coreSums()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		before, err := parse(dir)
		if err != nil {
			t.Fatal(err)
		}
		dst := t.TempDir()
		if err := os.CopyFS(dst, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		path, err := r.rewrite(dir, dst, s)
		if err != nil {
			t.Fatal(err)
		}
		wantReleased(t, path, dst, before.Replace)
	}
}

func wantReleased(t *testing.T, path, dir string, replaced []*modfile.Replace) {
	t.Helper()
	after, err := parse(dir)
	if err != nil || len(after.Replace) != 0 {
		t.Fatalf("%s: %v, %d replaces are left", path, err, len(after.Replace))
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rep := range replaced {
		needed := func(req *modfile.Require) bool { return req.Mod.Path == rep.Old.Path && req.Mod.Version == "v0.0.2" }
		if !slices.ContainsFunc(after.Require, needed) {
			t.Errorf("%s does not require v0.0.2 of %s", path, rep.Old.Path)
		}
		for _, line := range []string{rep.Old.Path + " v0.0.2 h1:", rep.Old.Path + " v0.0.2/go.mod h1:"} {
			if !strings.Contains(string(sum), line) {
				t.Errorf("%s: go.sum has no line %q", path, line)
			}
		}
	}
}

func TestUsageAndVersions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"prepare"}, {"prepare", "0.1.0"}, {"prepare", "v1"}, {"proxy", "v0.1.0"}, {"other", "v0.1.0"}, {"prepare", "v0.1.0+x"}} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), "v0.3.0") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
