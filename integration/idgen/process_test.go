package idgen

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/child"
)

// process is an issuer and the file that it writes.
type process struct {
	*child.Process
	file string
}

func startIssuer(t *testing.T, backend, dsn string, bits, count int, clock, name string) process {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	return process{child.Start(t, "issuer", backend, dsn, fmt.Sprint(bits), fmt.Sprint(count), file, clock), file}
}

// begin lets issuers go that have a worker id.
func begin(t *testing.T, all ...process) {
	t.Helper()
	for _, p := range all {
		if !p.After(1, "worker") {
			t.Fatal("an issuer got no worker id")
		}
	}
	for _, p := range all {
		p.Tell(t, "go")
	}
}

// end waits until issuers are done, then ends them; it returns the line after the word
// that each of them said first.
func end(t *testing.T, all ...process) (said [][]string) {
	t.Helper()
	for _, p := range all {
		if !p.After(1, "done") {
			t.Fatal("an issuer did not get through")
		}
	}
	for _, p := range all {
		p.Tell(t, "end")
	}
	for _, p := range all {
		lines, err := p.Wait()
		if err != nil {
			t.Error(err)
		}
		said = append(said, lines)
	}
	return said
}

// TestMillionsOfIDs: four processes issue more than ten million ids under the four
// worker ids that there are. One is killed in the middle and started again: it gets the
// worker id of the dead one, the only one that is not held. No id comes twice, and each
// process's rise.
func TestMillionsOfIDs(t *testing.T) {
	t.Parallel()
	const bits, count = 2, 2_600_000
	backend := backends.SQLite()
	dsn := backend.Database(t)
	start := func(name string, count int) process {
		return startIssuer(t, backend.Name, dsn, bits, count, rightClock, name)
	}
	victim, others := start("victim", count), []process{start("b", count), start("c", count), start("d", count)}
	begin(t, append([]process{victim}, others...)...)
	if !victim.After(1, "half") {
		t.Fatal("the first process did not get to its half")
	}
	dead := victim.Kill(t)
	again := start("again", count)
	begin(t, again)
	said := end(t, append(others, again)...)
	if from, to := workerOf(dead), workerOf(said[3]); from != to {
		t.Errorf("worker %s died, and the new process got %s", from, to)
	}
	streams := []stream{readStream(t, victim.file), readStream(t, again.file)}
	for _, p := range others {
		streams = append(streams, readStream(t, p.file))
	}
	ids, twice, fallen := merge(streams...)
	if ids < 10_000_000 || twice > 0 || fallen > 0 {
		t.Errorf("%d ids, %d of them came twice, %d were not greater than the one before", ids, twice, fallen)
	}
	t.Logf("%d ids", ids)
}

func workerOf(lines []string) string {
	for _, line := range lines {
		if worker, ok := strings.CutPrefix(line, "worker "); ok {
			return worker
		}
	}
	return ""
}

// A store that three processes do not share, though they should, gives two of them one
// worker id of two: the check above would notice.
func TestUnsharedStoreIsNoticed(t *testing.T) {
	t.Parallel()
	backend := backends.SQLite()
	var all []process
	for _, name := range []string{"a", "b", "c"} {
		all = append(all, startIssuer(t, backend.Name, backend.Database(t), 1, 300_000, rightClock, name))
	}
	begin(t, all...)
	end(t, all...)
	var streams []stream
	for _, p := range all {
		streams = append(streams, readStream(t, p.file))
	}
	if ids, twice, _ := merge(streams...); twice == 0 {
		t.Errorf("of %d ids none came twice", ids)
	}
}
