package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// The release commit: no replace is left, the core is required at the version, and
// its sums are there.
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
	sums, err := r.coreSums()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		dst := t.TempDir()
		path, err := r.rewrite(dir, dst, sums)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dst, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		mod, err := modfile.Parse("go.mod", data, nil)
		if err != nil || len(mod.Replace) != 0 || !strings.Contains(string(data), core+" v0.0.2") {
			t.Errorf("%s: %v\n%s", path, err, data)
		}
		sum, err := os.ReadFile(filepath.Join(dst, "go.sum"))
		if err != nil || !strings.Contains(string(sum), core+" v0.0.2 h1:") || !strings.Contains(string(sum), core+" v0.0.2/go.mod h1:") {
			t.Errorf("%s: the sums of the core are missing: %v", path, err)
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
