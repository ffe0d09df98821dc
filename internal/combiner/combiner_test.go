package combiner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// recorder is a flush that keeps what it was given, and waits where it is told to.
type recorder struct {
	batches [][]int
	ctxs    []context.Context
	gate    chan struct{}           // each flush takes one; nil: no waiting
	started bool                    // wait after the first start, not before
	fail    func(batch []int) error // nil: succeed
}

func (r *recorder) flush(ctx context.Context, batch []*Call[int]) error {
	r.ctxs = append(r.ctxs, ctx)
	if r.gate != nil && !r.started {
		<-r.gate
	}
	var ops []int
	for _, call := range batch {
		if call.Start() {
			ops = append(ops, call.Op)
		}
	}
	r.batches = append(r.batches, ops)
	if r.gate != nil && r.started {
		<-r.gate
	}
	if r.fail != nil {
		if err := r.fail(ops); err != nil {
			return err
		}
	}
	for _, call := range batch {
		call.Answer(nil)
	}
	return nil
}

// world is a combiner over a recorder, in a bubble of synctest.
type world struct {
	*recorder
	c    *Combiner[int]
	errs map[int]error
	mu   sync.Mutex
}

func newWorld(r *recorder, cfg Config[int]) *world {
	cfg.Flush = r.flush
	return &world{recorder: r, c: New(cfg), errs: make(map[int]error)}
}

// do calls Do for op on a goroutine of its own, and returns when it is under way.
func (w *world) do(ctx context.Context, op int) {
	go func() {
		err := w.c.Do(ctx, op)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errs[op] = err
	}()
	synctest.Wait()
}

// answer is what Do returned for op, and whether it has.
func (w *world) answer(op int) (error, bool) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	err, ok := w.errs[op]
	return err, ok
}

// open lets n flushes go on.
func (w *world) open(n int) {
	for range n {
		w.gate <- struct{}{}
		synctest.Wait()
	}
}

func wantBatches(t *testing.T, got [][]int, want ...[]int) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("batches %v; want %v", got, want)
	}
}

func TestIdleCallIsFlushedAloneAtOnce(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	c := New(Config[int]{Flush: r.flush})
	for op := range 3 {
		if err := c.Do(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	wantBatches(t, r.batches, []int{0}, []int{1}, []int{2})
}

func TestCallsDuringAFlushFormTheNextBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{Max: 3})
		for op := range 6 {
			w.do(t.Context(), op)
		}
		w.open(3)
		wantBatches(t, w.batches, []int{0}, []int{1, 2, 3}, []int{4, 5})
	})
}

func TestBatchIsSortedAndEqualCallsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{Compare: func(a, b int) int { return a%2 - b%2 }})
		var even, odd []int
		for op := range 50 {
			w.do(t.Context(), op)
			switch {
			case op == 0: // is being flushed
			case op%2 == 0:
				even = append(even, op)
			default:
				odd = append(odd, op)
			}
		}
		w.open(2)
		wantBatches(t, w.batches, []int{0}, slices.Concat(even, odd))
	})
}

// A caller's work is his own flush, not those of everybody who comes after him.
func TestLeaderLeavesTheNextBatchToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{})
		w.do(t.Context(), 0)
		w.do(t.Context(), 1)
		w.open(1)
		if _, ok := w.answer(0); !ok {
			t.Error("the first caller waits for the second flush")
		}
		w.open(1)
	})
}

// Field fault: the store answers after the caller's deadline, and the claim is
// there for the whole retention with nobody behind it.
func TestCallWithdrawnBeforeItsStartHasNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		w.do(t.Context(), 0) // is being flushed
		w.do(ctx, 1)         // is queued
		cancel()
		if err, ok := w.answer(1); !ok || !errors.Is(err, ErrWithdrawn) || !errors.Is(err, context.Canceled) {
			t.Errorf("answer %v, %v; want ErrWithdrawn for the context's reason", err, ok)
		}
		w.do(t.Context(), 2)
		w.open(2)
		wantBatches(t, w.batches, []int{0}, []int{2})
	})
}

// The same, with a batch that is formed already but waits for the store.
func TestCallWithdrawnFromAWaitingBatchHasNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		w.do(t.Context(), 0)
		w.do(t.Context(), 1)
		w.do(ctx, 2)
		w.open(1) // the batch of 1 and 2 is formed
		cancel()
		if err, ok := w.answer(2); !ok || !errors.Is(err, ErrWithdrawn) {
			t.Errorf("answer %v, %v; want ErrWithdrawn", err, ok)
		}
		w.open(1)
		wantBatches(t, w.batches, []int{0}, []int{1})
	})
}

func TestCallerLeavesAStartedCallWithoutHarmToTheBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{}), started: true}, Config[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		w.do(t.Context(), 0)
		w.do(ctx, 1)
		w.do(t.Context(), 2)
		w.open(1) // 1 and 2 are started
		cancel()
		if err, ok := w.answer(1); !ok || !errors.Is(err, ErrLeft) || errors.Is(err, ErrWithdrawn) {
			t.Errorf("answer %v, %v; want ErrLeft", err, ok)
		}
		if err := w.ctxs[1].Err(); err != nil {
			t.Errorf("the batch was cancelled with its caller: %v", err)
		}
		w.open(1)
		if err, ok := w.answer(2); !ok || err != nil {
			t.Errorf("the other call of the batch: %v, %v", err, ok)
		}
	})
}

func TestContextIsTheCallersOnlyWhenHeFlushesHimself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{})
		w.do(t.Context(), 0)
		w.do(t.Context(), 1)
		w.open(2)
		if w.ctxs[0] != t.Context() || w.ctxs[1].Done() != nil {
			t.Errorf("contexts %v", w.ctxs)
		}
	})
}

var errSpoilt = errors.New("spoilt")

func spoiltByThree(batch []int) error {
	if slices.Contains(batch, 3) {
		return errSpoilt
	}
	return nil
}

// One duplicate in a batch must not blame the fresh ones beside it.
func TestSpoiltBatchIsFlushedOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := Config[int]{Alone: func(err error) bool { return errors.Is(err, errSpoilt) }}
		w := newWorld(&recorder{gate: make(chan struct{}), fail: spoiltByThree}, cfg)
		for _, op := range []int{0, 2, 3, 4} {
			w.do(t.Context(), op)
		}
		w.open(5)
		wantBatches(t, w.batches, []int{0}, []int{2, 3, 4}, []int{2}, []int{3}, []int{4})
		for _, op := range []int{0, 2, 4} {
			if err, ok := w.answer(op); !ok || err != nil {
				t.Errorf("call %d: %v, %v", op, err, ok)
			}
		}
		if err, ok := w.answer(3); !ok || !errors.Is(err, errSpoilt) {
			t.Errorf("the call that spoilt it: %v, %v", err, ok)
		}
	})
}

func TestCallerWhoLeftIsNotFlushedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := Config[int]{Alone: func(error) bool { return true }}
		w := newWorld(&recorder{gate: make(chan struct{}), started: true, fail: spoiltByThree}, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		w.do(t.Context(), 0)
		w.do(ctx, 2)
		w.do(t.Context(), 3)
		w.open(1)
		cancel()
		if _, ok := w.answer(2); !ok {
			t.Error("the caller is still there")
		}
		w.open(3)
		wantBatches(t, w.batches, []int{0}, []int{2, 3}, nil, []int{3})
	})
}

// An unknown commit is unknown for every caller of the batch.
func TestFailureThatMayHaveHadAnEffectIsHandedToAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := Config[int]{Alone: func(error) bool { return false }}
		w := newWorld(&recorder{gate: make(chan struct{}), fail: spoiltByThree}, cfg)
		for _, op := range []int{0, 2, 3} {
			w.do(t.Context(), op)
		}
		w.open(2)
		for _, op := range []int{2, 3} {
			if err, ok := w.answer(op); !ok || !errors.Is(err, errSpoilt) {
				t.Errorf("call %d: %v, %v", op, err, ok)
			}
		}
		wantBatches(t, w.batches, []int{0}, []int{2, 3})
	})
}

func TestCloseWaitsForTheQueueAndRefusesNewCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(&recorder{gate: make(chan struct{})}, Config[int]{})
		w.do(t.Context(), 0)
		w.do(t.Context(), 1)
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.c.Close(impatient); !errors.Is(err, context.Canceled) {
			t.Errorf("Close with calls under way: %v; want the context's reason", err)
		}
		w.do(t.Context(), 2)
		if err, ok := w.answer(2); !ok || !errors.Is(err, ErrWithdrawn) {
			t.Errorf("a call after Close: %v, %v; want ErrWithdrawn", err, ok)
		}
		w.open(2)
		if err := w.c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wantBatches(t, w.batches, []int{0}, []int{1})
	})
}

func TestCloseOfAnIdleCombiner(t *testing.T) {
	t.Parallel()
	c := New(Config[int]{Flush: (&recorder{}).flush})
	for range 2 {
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPanicOfAFlushDoesNotBlockTheNext(t *testing.T) {
	t.Parallel()
	r := &recorder{fail: func([]int) error { panic("driver") }}
	c := New(Config[int]{Flush: r.flush})
	func() {
		defer func() { recover() }()
		c.Do(t.Context(), 0)
	}()
	r.fail = nil
	if err := c.Do(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestManyCallersEachGetTheirAnswer(t *testing.T) {
	t.Parallel()
	sum := 0
	odd := errors.New("odd")
	c := New(Config[int]{Max: 7, Flush: func(_ context.Context, batch []*Call[int]) error {
		for _, call := range batch {
			call.Start()
			sum += call.Op
			if call.Op%2 == 1 {
				call.Answer(odd)
			}
		}
		return nil
	}})
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			for j := range 50 {
				op := i*50 + j
				if err := c.Do(t.Context(), op); (err != nil) != (op%2 == 1) {
					t.Errorf("call %d: %v", op, err)
				}
			}
		})
	}
	callers.Wait()
	if want := 3200 * 3199 / 2; sum != want {
		t.Errorf("sum %d; want %d: a call was lost or made twice", sum, want)
	}
}
