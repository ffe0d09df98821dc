package deploy

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
	"go.yaml.in/yaml/v3"
)

// binary is the semel that all tests ask. TestMain builds it.
var binary string

func TestMain(m *testing.M) { os.Exit(gateway.Main(m, &binary)) }

// path is a file of the repository.
func path(t *testing.T, parts ...string) string {
	t.Helper()
	root, err := gateway.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(path(t, parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decodeAll reads the documents of a YAML text into values of T, which must know
// every field if strict.
func decodeAll[T any](t *testing.T, text string, strict bool) (all []T) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(strict)
	for {
		var one T
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
}

// takes returns what the binary would run with, given these variables and the
// arguments of `semel proxy`; what it refuses fails the test.
func takes(t *testing.T, args, environ []string) (settings map[string]string) {
	t.Helper()
	if len(args) == 0 || args[0] != "proxy" {
		t.Fatalf("the arguments %q do not run the gateway", args)
	}
	out, err := configPrint(args[1:], environ)
	if err != nil {
		t.Fatalf("the binary refuses %q %q: %v\n%s", args, environ, err, out)
	}
	if err := yaml.Unmarshal(out, &settings); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return settings
}

func configPrint(args, environ []string) ([]byte, error) {
	var out bytes.Buffer
	cmd := exec.Command(binary, append([]string{"config", "print"}, args...)...)
	cmd.Env = environ
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}

// One file is enough: no C library, no loader.
func TestBinaryIsStatic(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Logf("not checked on %s: its binaries are no ELF", runtime.GOOS)
		return
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs the libraries %q, %v", libraries, err)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("it needs a loader")
		}
	}
}
