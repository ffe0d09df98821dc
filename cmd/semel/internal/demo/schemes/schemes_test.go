package schemes

import (
	"slices"
	"strings"
	"testing"
)

// checkSaid compares what was told, whichever of two that act at once was first.
func checkSaid(t *testing.T, r Run, want ...string) {
	t.Helper()
	nameless := strings.NewReplacer("click-1", "click", "click-2", "click")
	var got []string
	for _, s := range said(r) {
		got = append(got, nameless.Replace(s))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// play plays a way and compares the count that its tables hold.
func (w *world) play(scheme, way string, count int) Run {
	w.t.Helper()
	r := w.run(scheme, way)
	if !r.AsWanted || r.Count != count {
		w.t.Errorf("%s, %s: came to %d, want %d (%+v)", scheme, way, r.Count, count, r)
	}
	return r
}

// Two clicks look before either inserts: two orders. The unique key lets one insert,
// and the other gets that order.
func TestOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checkSaid(t, w.play("order", Wrong, 2), "click none plain", "click none plain", "click inserted good", "click inserted bad")
	r := w.play("order", Right, 1)
	checkSaid(t, r, "click inserted good", "click there replay")
	if a, b := r.Steps[0].With["id"], r.Steps[1].With["id"]; a != b {
		t.Errorf("the clicks got the orders %s and %s", a, b)
	}
}

// An edit is lost where each writes back all that it has read, and none where the version
// is compared.
func TestEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checkSaid(t, w.play("edit", Wrong, 1), "lin opens plain", "wang opens plain", "lin price good", "wang overwrites bad")
	checkSaid(t, w.play("edit", Right, 0), "lin opens plain", "wang opens plain", "lin price good", "wang conflict replay", "wang opens plain", "wang stock good")
}

// Two submits find the token before either deletes it. One that is spent through the life
// cycle books once, and is given back by a form with a mistake.
func TestForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checkSaid(t, w.play("form", Wrong, 2), "click found plain", "click found plain", "click booked good", "click booked bad")
	r := w.play("form", Right, 1)
	checkSaid(t, r, "lin mistake plain", "click booked good", "click replayed replay", "stranger refused replay")
	if a, b := r.Steps[1].With["id"], r.Steps[2].With["id"]; a != b {
		t.Errorf("the clicks got the bookings %s and %s", a, b)
	}
}

// Field fault: the owner of a lock is paused for longer than its lease. Its late write lands
// where nothing asks for the fence; with one, its context has ended, and [lock.Guard] refuses
// what it writes all the same.
func TestLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checkSaid(t, w.play("lock", Wrong, 1), "worker-a locked plain", "worker-a paused plain", "worker-b passed plain", "worker-b sends good", "worker-a landed bad")
	r := w.play("lock", Right, 0)
	checkSaid(t, r, "worker-a locked plain", "worker-a paused plain", "worker-b passed plain", "worker-b sends good", "worker-a woken replay", "worker-a fenced replay")
	if last := r.Steps[len(r.Steps)-1].With; last["fence"] >= last["seen"] {
		t.Errorf("the stale fence is no smaller: %v", last)
	}
}

// A worker id that stands in two configurations makes ids twice; one that is leased does
// not.
func TestIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("ids", Wrong)
	if !r.AsWanted || r.Count == 0 {
		t.Errorf("one worker id in two processes: %+v", r)
	}
	checkSaid(t, r, "process-a configured plain", "process-b configured plain", "shop twice bad")
	r = w.play("ids", Right, 0)
	checkSaid(t, r, "process-a leased plain", "process-b leased plain", "shop snowflakes good", "shop uuids good", "shop ulids good", "shop derived replay")
	if a, b := r.Steps[0].With["worker"], r.Steps[1].With["worker"]; a == b {
		t.Errorf("both processes have the worker id %s", a)
	}
}
