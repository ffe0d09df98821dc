package demo

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The stories as a script tells them, against a demo that runs already.
func TestStoriesWithCurl(t *testing.T) {
	t.Parallel()
	need(t, "curl", "curl")
	bash := need(t, "bash", "bash")
	script := filepath.Join("..", "..", "examples", "curl", "stories.sh")
	d := start(t)
	out, err := exec.CommandContext(t.Context(), bash, script, d.url).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var counts []string
	for line := range strings.Lines(string(out)) {
		if _, n, found := strings.Cut(line, "table: "); found {
			counts = append(counts, strings.TrimSpace(n))
		}
	}
	if got := strings.Join(counts, " "); got != "2 1 2 1 2 1 4 1 2 1" {
		t.Errorf("counts %s, want one on each guarded side and more on the other:\n%s", got, out)
	}
	if n := strings.Count(string(out), "Idempotent-Replayed: true"); n != 6 {
		t.Errorf("%d replays are shown, want one in each story of the gateway and three of the voter:\n%s", n, out)
	}
	d.interrupt()
}
