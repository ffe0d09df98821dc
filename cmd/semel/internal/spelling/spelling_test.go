package spelling_test

import (
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/spelling"
)

// A name that nobody can have meant is not offered.
func TestHint(t *testing.T) {
	t.Parallel()
	names := []string{"retention", "lease", "wait", "store"}
	for typed, want := range map[string]string{
		"retension": "; did you mean --retention?",
		"leese":     "; did you mean --lease?",
		"wati":      "; did you mean --wait?",
		"Lease":     "; did you mean --lease?",
		"password":  "",
		"x":         "",
		"":          "",
	} {
		if got := spelling.Hint(typed, "--", names); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
	if got := spelling.Hint("lease", "", nil); got != "" {
		t.Errorf("of no names: got %q", got)
	}
}
