package combiner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// roads is a flush with a gate for each operation: negative ones hang until they
// are let go.
type roads struct {
	mu      sync.Mutex
	batches [][]int
	begun   time.Time
	at      []time.Duration
	hung    map[int]chan struct{}
	fail    func(batch []int) error
}

func (r *roads) flush(_ context.Context, batch []*Call[int]) error {
	var ops []int
	for _, call := range batch {
		if call.Start() {
			ops = append(ops, call.Op)
		}
	}
	r.mu.Lock()
	r.batches, r.at = append(r.batches, ops), append(r.at, time.Since(r.begun))
	gates := make([]chan struct{}, 0, len(ops))
	for _, op := range ops {
		if gate := r.hung[op]; gate != nil {
			gates = append(gates, gate)
		}
	}
	r.mu.Unlock()
	if r.fail != nil && r.fail(ops) != nil {
		return r.fail(ops)
	}
	for _, gate := range gates {
		<-gate
	}
	return nil
}

// newRoads is a combiner with some lanes, whose negative operations hang.
func newRoads(lanes int, hung ...int) (*roads, *Combiner[int]) {
	r := &roads{begun: time.Now(), hung: make(map[int]chan struct{})}
	for _, op := range hung {
		r.hung[op] = make(chan struct{})
	}
	return r, New(Config[int]{Flush: r.flush, Lanes: lanes, Patience: 10 * time.Millisecond, Alone: func(error) bool { return true }})
}

// call runs Do on a goroutine of its own, and returns when it is under way.
func call(t *testing.T, c *Combiner[int], op int) <-chan error {
	t.Helper()
	answered := make(chan error, 1)
	go func() { answered <- c.Do(t.Context(), op) }()
	synctest.Wait()
	return answered
}

// Contract: a hung call delays no other for longer than the patience.
func TestHungFlushIsOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(2, -1)
		hung := call(t, c, -1)
		first, second := call(t, c, 1), call(t, c, 2)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
		wantBatches(t, r.batches, []int{-1}, []int{1, 2})
		if r.at[1] != 10*time.Millisecond {
			t.Errorf("overtaken after %v; want the patience", r.at[1])
		}
		select {
		case <-hung:
			t.Error("the hung call was answered")
		default:
		}
		close(r.hung[-1])
		<-hung
	})
}

func TestOneLaneIsNotOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(1, -1)
		call(t, c, -1)
		call(t, c, 1)
		time.Sleep(time.Hour)
		wantBatches(t, r.batches, []int{-1})
		close(r.hung[-1])
		synctest.Wait()
		wantBatches(t, r.batches, []int{-1}, []int{1})
	})
}

func TestNoMoreLanesThanAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(3, -1, -2, -3, -4)
		for op := range 4 {
			call(t, c, -1-op)
			time.Sleep(time.Second)
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{-3})
		close(r.hung[-2])
		synctest.Wait()
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{-3}, []int{-4})
		for _, op := range []int{-1, -3, -4} {
			close(r.hung[op])
		}
	})
}

// A lane that comes back while another one is at hand leaves the queue to it: one
// lane makes larger batches than two.
func TestSurplusLaneEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(2, -1, -2)
		call(t, c, -1)
		call(t, c, -2)
		time.Sleep(12 * time.Millisecond) // -2 is under way since 2 ms
		call(t, c, 1)
		close(r.hung[-1])
		synctest.Wait()
		wantBatches(t, r.batches, []int{-1}, []int{-2})
		call(t, c, 2)
		close(r.hung[-2])
		synctest.Wait()
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{1, 2})
	})
}

// The young lane that had the queue hangs in turn: the calls are not forgotten.
func TestQueueOfAHungLaneIsOvertakenToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(2, -1, -2)
		call(t, c, -1)
		call(t, c, -2)
		time.Sleep(12 * time.Millisecond)
		first := call(t, c, 1)
		close(r.hung[-1]) // surplus: -2 is young
		if err := <-first; err != nil {
			t.Error(err)
		}
		wantBatches(t, r.batches, []int{-1}, []int{-2}, []int{1})
		close(r.hung[-2])
	})
}

// A call of a spoilt batch that hangs on its own delays the others of the batch
// only where there is one lane.
func TestSpoiltBatchIsFlushedSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(2, 0, -1)
		r.fail = func(batch []int) error {
			if len(batch) > 1 {
				return errors.New("spoilt")
			}
			return nil
		}
		call(t, c, 0)
		call(t, c, -1)
		others := []<-chan error{call(t, c, 1), call(t, c, 2), call(t, c, 3)}
		close(r.hung[0])
		for _, answered := range others {
			if err := <-answered; err != nil {
				t.Error(err)
			}
		}
		close(r.hung[-1])
	})
}

func TestCloseWaitsForAllLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(2, -1, -2)
		call(t, c, -1)
		call(t, c, -2)
		time.Sleep(time.Second)
		closed := make(chan error, 1)
		go func() { closed <- c.Close(t.Context()) }()
		for _, op := range []int{-1, -2} {
			synctest.Wait()
			select {
			case <-closed:
				t.Fatalf("closed before %d was answered", op)
			default:
			}
			close(r.hung[op])
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if slices.Contains(r.batches[0], -2) {
			t.Error("one lane only")
		}
	})
}

// An alarm that was set for an earlier flush opens no lane beside a young one.
func TestEarlyAlarmIsSetAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newRoads(2, -1, -2)
		call(t, c, -1)
		call(t, c, -2) // sets the alarm to 10 ms
		time.Sleep(5 * time.Millisecond)
		close(r.hung[-1])
		synctest.Wait() // -2 is under way from here on
		if err := <-call(t, c, 1); err != nil {
			t.Error(err)
		}
		if r.at[2] != 15*time.Millisecond {
			t.Errorf("the lane was opened after %v; want 15ms", r.at[2])
		}
		close(r.hung[-2])
	})
}
