package combiner

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Without batches no call waits for another one, however many there are.
func TestNothingIsCombinedWhereABatchHasOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := newRoads(4, -1, -2, -3, -4, -5)
		c := New(Config[int]{Flush: r.flush, Max: 1, Lanes: 4, Direct: 2})
		var answers []<-chan error
		for op := range r.hung {
			answers = append(answers, call(t, c, op))
		}
		if err := <-call(t, c, 6); err != nil {
			t.Error(err)
		}
		for op := range r.hung {
			close(r.hung[op])
		}
		for _, answer := range answers {
			if err := <-answer; err != nil {
				t.Error(err)
			}
		}
	})
}

// The server works on one batch while the next is made: a second one does not wait for
// the first, a third waits for either.
func TestSeveralBatchesAreUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := newRoads(4, -1, -2, -3)
		c := New(Config[int]{Flush: r.flush, Lanes: 4, Flights: 2, Patience: time.Hour})
		var answers []<-chan error
		for _, op := range []int{-1, -2, -3, 4} {
			answers = append(answers, call(t, c, op))
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2})
		close(r.hung[-2])
		synctest.Wait() // its lane takes what has come, though the other one is young
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{-3, 4})
		answers = append(answers, call(t, c, 5))
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{-3, 4})
		close(r.hung[-1])
		close(r.hung[-3])
		for _, answer := range answers {
			if err := <-answer; err != nil {
				t.Error(err)
			}
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{-3, 4}, []int{5})
	})
}

// newDirect is a combiner of four lanes that flushes two calls side by side.
// Negative operations hang.
func newDirect(hung ...int) (*roads, *Combiner[int]) {
	r, _ := newRoads(4, hung...)
	return r, New(Config[int]{Flush: r.flush, Lanes: 4, Direct: 2})
}

// Few callers are never slower than single statements: none waits for another one.
func TestFewCallsAreFlushedSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newDirect(-1, -2)
		first, second := call(t, c, -1), call(t, c, -2)
		wantBatches(t, r.batches, []int{-1}, []int{-2})
		close(r.hung[-1])
		third := call(t, c, 3)
		close(r.hung[-2])
		if err := errors.Join(<-first, <-second, <-third); err != nil {
			t.Error(err)
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{3})
	})
}

func TestMoreCallsThanGoSideBySideFormABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newDirect(-1, -2, -5)
		first, second := call(t, c, -1), call(t, c, -2)
		third, fourth := call(t, c, 3), call(t, c, 4)
		wantBatches(t, r.batches, []int{-1}, []int{-2})
		close(r.hung[-1])
		synctest.Wait() // its lane leaves the queue to the other one
		wantBatches(t, r.batches, []int{-1}, []int{-2})
		close(r.hung[-2])
		if err := errors.Join(<-first, <-second, <-third, <-fourth); err != nil {
			t.Error(err)
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{3, 4})
		// Now there is a crowd: the next ones share a flush as well.
		fifth, sixth, seventh := call(t, c, -5), call(t, c, 6), call(t, c, 7)
		close(r.hung[-5])
		if err := errors.Join(<-fifth, <-sixth, <-seventh); err != nil {
			t.Error(err)
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{3, 4}, []int{-5}, []int{6, 7})
	})
}

func TestCrowdIsOverAfterSmallFlushes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flush int
		here  bool
	}{
		"small": {flush: 1, here: false},
		"large": {flush: 3, here: true},
	} {
		c := crowd{direct: 4, flights: 1}
		c.gathers()
		c.flushes(test.flush)
		if !c.here || c.admits(1) || !c.admits(0) {
			t.Errorf("%s flushes: one of them ends the crowd", name)
		}
		for range 2 * crowdMemory {
			c.flushes(test.flush)
		}
		if c.here != test.here || c.admits(1) == test.here {
			t.Errorf("%s flushes: the crowd is here: %v", name, c.here)
		}
		if c.admits(4) {
			t.Errorf("%s flushes: more are side by side than allowed", name)
		}
	}
}

func TestDirectIsOneByDefaultAndNoMoreThanLanes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lanes, direct, want int }{{0, 0, 1}, {4, 0, 1}, {2, 4, 2}, {4, 3, 3}} {
		if c := New(Config[int]{Lanes: test.lanes, Direct: test.direct}); c.cfg.Direct != test.want {
			t.Errorf("Lanes %d, Direct %d: %d side by side, want %d", test.lanes, test.direct, c.cfg.Direct, test.want)
		}
	}
}
