package integration

import (
	"testing"

	"github.com/semel-go/semel/integration/internal/child"
)

// release lets children go on that have said "ready" and read their input: they race.
func release(t *testing.T, all ...*child.Process) {
	t.Helper()
	for _, p := range all {
		if !p.After(1, "ready") {
			t.Fatal("a child did not start")
		}
	}
	for _, p := range all {
		p.Tell(t, "go")
	}
}
