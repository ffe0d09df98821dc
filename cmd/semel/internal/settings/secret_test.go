package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSecret(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	for text, want := range map[string]string{
		"0123456789abcdef\n": "0123456789abcdef", // as an editor leaves it
		"  0123456789abcdef": "0123456789abcdef",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadSecret(file); string(got) != want || err != nil {
			t.Errorf("%q: got %q %v", text, got, err)
		}
	}
	if err := os.WriteFile(file, []byte("short and sweet"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(file); err == nil || !strings.Contains(err.Error(), "at least 16") || strings.Contains(err.Error(), "sweet") {
		t.Errorf("got %v", err)
	}
}
