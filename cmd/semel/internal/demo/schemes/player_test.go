package schemes

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Each way has both sides, and shows code that is there.
func TestAll(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		if len(s.Ways) != 2 || s.Ways[0].ID != Wrong || s.Ways[1].ID != Right {
			t.Errorf("%s has the ways %+v", s.ID, s.Ways)
		}
		for _, w := range s.Ways {
			if n := strings.Count(w.Code.Crux, "\n"); w.Code.Crux == "" || n > 6 || !strings.Contains(w.Code.Whole, "func ") {
				t.Errorf("%s, %s shows %+v", s.ID, w.ID, w.Code)
			}
			for line := range strings.Lines(w.Code.Whole) {
				if len(line) > 65 {
					t.Errorf("%s, %s: too long to be shown: %s", s.ID, w.ID, line)
				}
			}
		}
	}
}

// The last run is kept until a reset.
func TestPlayerKeepsTheLastRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w.Play("order", "best") || w.Play("none", Right) {
		t.Error("an unknown way is played")
	}
	first := w.run("order", Right)
	if w.Reset(); len(first.Steps) == 0 {
		t.Errorf("the first run: %+v", first)
	}
	if r, begun := w.Last("order", Right); begun {
		t.Errorf("after a reset: %+v", r)
	}
	if again := w.run("order", Right); again.Steps[0].With["id"] == first.Steps[0].With["id"] {
		t.Error("two runs have one order")
	}
}

// Whoever waits for others that have failed, fails with them.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	failure, meet := errors.New("failed"), meeting(2)
	err := atOnce(t.Context(), []string{"a", "b"}, func(ctx context.Context, who string) error {
		if who == "a" {
			return failure
		}
		return meet(ctx)
	})
	if err != failure {
		t.Errorf("got %v", err)
	}
}

// A way that is being played is not begun twice. Nothing is begun behind the end, which
// ends what is under way.
func TestPlayerEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stage.pace = 1 << 62
	w.Play("edit", Wrong)
	first := w.runs[part{"edit", Wrong}]
	if w.Play("edit", Wrong); w.runs[part{"edit", Wrong}] != first {
		t.Error("a run was begun twice")
	}
	w.stop()
	w.playing.Wait()
	if r, _ := w.Last("edit", Wrong); !r.Ended || r.AsWanted {
		t.Errorf("the run under way: %+v", r)
	}
	if w.Play("order", Right); len(w.runs) != 1 {
		t.Error("a run was begun behind the end")
	}
}
