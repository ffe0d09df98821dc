package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// proxy writes core and siblings into dir, laid out as a module proxy
// (go.dev/ref/mod#goproxy-protocol). The repository is not changed.
func (r *release) proxy(dir string) error {
	s, err := r.coreSums()
	if err != nil {
		return err
	}
	if err := r.publish(dir, core, r.root); err != nil {
		return err
	}
	siblings, err := r.siblings()
	if err != nil {
		return err
	}
	for _, src := range siblings {
		if err := r.publishSibling(dir, src, s); err != nil {
			return err
		}
	}
	return nil
}

// publishSibling publishes a copy of the module in src, as the release commit has it.
func (r *release) publishSibling(dir, src string, s sums) error {
	tmp, err := os.MkdirTemp("", "semel-module-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, os.DirFS(src)); err != nil {
		return err
	}
	path, err := r.rewrite(src, tmp, s)
	if err != nil {
		return err
	}
	return r.publish(dir, path, tmp)
}

// publish writes the four files that a proxy serves for one version.
func (r *release) publish(dir, path, src string) error {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": r.version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"list": []byte(r.version + "\n"), r.version + ".mod": mod, r.version + ".info": info} {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o644); err != nil {
			return err
		}
	}
	zip, err := os.Create(filepath.Join(at, r.version+".zip"))
	if err != nil {
		return err
	}
	defer zip.Close()
	if err := modzip.CreateFromDir(zip, module.Version{Path: path, Version: r.version}, src); err != nil {
		return err
	}
	return zip.Close()
}

// opener serves one file to a hash.
func opener(data []byte) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}
