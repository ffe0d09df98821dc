package idgen

import (
	"slices"
	"syscall"
	"testing"

	"github.com/semel-go/semel/integration/internal/backends"
)

// TestPausedProcess: a process is stopped in the middle of issuing, for longer than its
// lease, and its clock sleeps with it. Meanwhile another one takes its worker id, whose
// clock is so far behind that it goes through the same milliseconds. Then the first goes on
// where it was: what it had reserved is still its own, and after that it is sent away. No
// id comes twice.
func TestPausedProcess(t *testing.T) {
	t.Parallel()
	const endless = 1 << 30
	backend := backends.SQLite()
	dsn := backend.Database(t)
	start := func(count int, clock, name string) process {
		return startIssuer(t, backend.Name, dsn, 1, count, clock, name)
	}
	paused, other := start(endless, sleepingClock, "paused"), start(100, rightClock, "other")
	begin(t, paused, other)
	if !paused.After(1, "first") || !other.After(1, "done") {
		t.Fatal("the processes issued nothing")
	}
	paused.Signal(t, syscall.SIGSTOP)
	heir := start(3_000_000, clockBehind, "heir")
	begin(t, heir)
	if !heir.After(1, "half") {
		t.Fatal("the heir did not get to its half")
	}
	paused.Signal(t, syscall.SIGCONT)
	said := end(t, paused, heir, other)
	if from, to := workerOf(said[0]), workerOf(said[1]); from != to {
		t.Fatalf("worker %s was paused, and the heir got %s", from, to)
	}
	if !slices.Contains(said[0], "lost") {
		t.Errorf("the paused process does not know of its loss: %q", said[0])
	}
	ids, twice, fallen := merge(readStream(t, paused.file), readStream(t, heir.file), readStream(t, other.file))
	if ids <= 3_000_100 || twice > 0 || fallen > 0 {
		t.Errorf("%d ids, %d of them came twice, %d were not greater than the one before", ids, twice, fallen)
	}
}
