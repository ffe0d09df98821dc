package storeurl_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// Records hold answers: nobody but the owner reads them. A file that is there keeps
// its rights.
func TestFileIsPrivate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	h, err := storeurl.Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + "-wal"} {
		if mode := modeOf(t, name); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", filepath.Base(name), mode)
		}
	}
	h.Close()
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if h, err = storeurl.Open(t.Context(), "sqlite:"+file); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if mode := modeOf(t, file); mode != 0o640 {
		t.Errorf("opened again, the file has mode %o, want 640 as it was", mode)
	}
}

func modeOf(t *testing.T, file string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// A file that cannot be opened says which, why and what to do.
func TestOpenSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "data", "semel.db")
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("this is no database, however long it may be"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, wants := range map[string][]string{
		missing: {missing, "no such file or directory", "make the folder " + filepath.Dir(missing)},
		dir:     {dir, "is a directory"},
		text:    {text, "not a database"},
	} {
		_, err := storeurl.Open(t.Context(), "sqlite:"+path)
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", path, err, want)
			}
		}
	}
}

// A store whose file is elsewhere now is told from one in its place.
func TestPresent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	h, err := storeurl.Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Present(); err != nil {
		t.Errorf("in its place: %v", err)
	}
	if err := os.Rename(file, file+".old"); err != nil {
		t.Fatal(err)
	}
	if err := h.Present(); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("moved away: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Present(); err == nil || !strings.Contains(err.Error(), "another file is now at") {
		t.Errorf("replaced: %v", err)
	}
}
