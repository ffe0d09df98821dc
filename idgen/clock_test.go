package idgen_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/semeltest"
)

func behind(err error) time.Duration {
	if clock, ok := errors.AsType[*idgen.ClockError](err); ok {
		return clock.Behind
	}
	return 0
}

// Field fault: the clock is set back, and ids come twice. A small step is waited out, a
// large one is an error at once that says by how much, and goes away.
func TestClockSetBack(t *testing.T) {
	for _, c := range []struct {
		back, wait time.Duration
		refused    bool
	}{
		{back: 9 * time.Millisecond},
		{back: 60 * time.Millisecond, wait: 55 * time.Millisecond},
		{back: 110 * time.Millisecond, wait: 105 * time.Millisecond},
		{back: 111 * time.Millisecond, refused: true},
		{back: time.Hour, refused: true},
	} {
		t.Run(c.back.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t, &ledger{}, newStore(t), "a", two)
				h.mustStart()
				h.mustIssue(1)
				h.step(-c.back)
				begin := time.Now()
				_, err := h.next()
				if waited := time.Since(begin); waited != c.wait || (behind(err) >= c.back) != c.refused || (err == nil) == c.refused {
					t.Errorf("waited %v, %v; want %v, an error: %v", waited, err, c.wait, c.refused)
				}
				h.step(c.back)
				h.mustIssue(100)
				h.mustClose()
				h.book.mustBeClean(t)
			})
		})
	}
}

// A clock that was set back and stands is not waited for a second time.
func TestClockThatStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two)
		stands := time.Now()
		h.opts.Now = func() time.Time { return stands }
		h.mustStart()
		begin := time.Now()
		var err error
		for err == nil {
			_, err = h.next()
		}
		if behind(err) == 0 || time.Since(begin) > 200*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		h.mustClose()
		h.book.mustBeClean(t)
	})
}

// A caller that was off the CPU after it had looked at the clock does not take the others'
// ids for a clock that was set back.
func TestCallerThatWasPreempted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two)
		stale := time.Duration(0)
		h.opts.Now = func() time.Time {
			defer func() { stale = 0 }()
			return time.Now().Add(-stale)
		}
		h.mustStart()
		h.mustIssue(1)
		stale = time.Second
		begin := time.Now()
		h.mustIssue(1)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("it waited %v", waited)
		}
		h.mustClose()
	})
}

// The clock runs ahead by an hour while the node works: nobody gets an id of that time
// before the store has acknowledged that it may be issued.
func TestClockSetForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &ledger{}, newStore(t), "a", two)
		h.mustStart()
		h.mustIssue(10)
		h.step(time.Hour)
		reply := make(chan struct{})
		h.store.onCheckpoint(func(apply func() error) error {
			<-reply
			return apply()
		})
		ids := make(chan idgen.Snowflake, 2)
		for range cap(ids) {
			go func() {
				id, err := h.node.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				ids <- id
			}()
			synctest.Wait()
			if len(ids) > 0 {
				t.Fatal("an id of an hour ahead was issued before the store knew of it")
			}
		}
		close(reply)
		if a, b := <-ids, <-ids; a == b {
			t.Errorf("%d came twice", a)
		}
		h.mustIssue(10)
		h.mustClose()
		h.book.mustBeClean(t)
	})
}

// Over a restart with the clock back no id comes twice, whatever happened before: the
// next holder of the worker id is refused until its clock has caught up. The other
// worker id is held by somebody else all the time.
func TestRestartWithTheClockBack(t *testing.T) {
	for name, c := range map[string]struct {
		ahead  time.Duration // of the first holder's clock, since before or while it works
		later  bool          // it jumps while the holder works
		killed bool
		back   time.Duration // of the next holder's clock
	}{
		"killed, the next machine is an hour back":           {killed: true, back: -time.Hour},
		"closed, the same machine is an hour back":           {back: -time.Hour},
		"an hour ahead from the start, killed, corrected":    {ahead: time.Hour, killed: true},
		"an hour ahead from the start, closed, corrected":    {ahead: time.Hour},
		"jumps an hour ahead while it works, killed, fixed":  {ahead: time.Hour, later: true, killed: true},
		"jumps an hour ahead while it works, closed, fixed":  {ahead: time.Hour, later: true},
		"ahead by an hour, and the next one by half of that": {ahead: time.Hour, later: true, killed: true, back: 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				book, store := &ledger{}, newStore(t)
				other, first := newHost(t, book, store, "other", two), newHost(t, book, store, "first", two)
				other.mustStart()
				if !c.later {
					first.step(c.ahead)
				}
				first.mustStart()
				first.mustIssue(50)
				if c.later {
					first.step(c.ahead)
					first.mustIssue(50)
				}
				if c.killed {
					first.store.cut() // what it does from now on reaches nobody
					time.Sleep(lease + time.Second)
				} else {
					first.mustClose()
				}
				next := newHost(t, book, store, "next", two)
				next.step(c.back)
				err := next.start()
				if behind(err) < 25*time.Minute {
					t.Errorf("the next holder: %v", err)
				}
				next.step(behind(err))
				next.mustStart()
				next.mustIssue(500)
				if c.killed {
					first.bury()
				}
				next.mustClose()
				other.mustClose()
				book.mustBeClean(t)
			})
		})
	}
}

// A host whose clock is wrong from the start is told so by the store's clock.
func TestWrongClockAtTheStart(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour, time.Minute + time.Millisecond, time.Minute, -time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t, &ledger{}, newStore(t), "a", two)
				h.opts.MaxSkew = 0 // the default
				h.step(off)
				err := h.start()
				if off.Abs() <= time.Minute {
					if err != nil {
						t.Fatal(err)
					}
					h.mustClose()
					return
				}
				if behind(err) != -off {
					t.Errorf("%v, want that it is behind by %v", err, -off)
				}
				h.step(-off)
				h.mustStart() // the worker id was given back
				h.mustClose()
			})
		})
	}
}

// Field fault: a process that was paused, or whose machine slept, goes on with a lease
// that is over. Its clocks do not tell it, but it issues nothing that the next holder of
// its worker id may issue.
func TestSleeperIssuesNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, store := &ledger{}, newStore(t)
		other, sleeper, next := newHost(t, book, store, "other", two), newHost(t, book, store, "sleeper", two), newHost(t, book, store, "next", two)
		other.mustStart()
		asleep := semeltest.NewClock() // the monotonic clock of a machine that sleeps
		sleeper.opts.Clock = asleep
		sleeper.mustStart()
		worker := sleeper.node.Worker()
		sleeper.mustIssue(100)
		time.Sleep(lease)
		next.mustStart()
		if next.node.Worker() != worker {
			t.Fatal("the worker id did not pass on")
		}
		next.mustIssue(100)
		sleeper.step(-lease) // its wall clock has slept too
		var err error
		for err == nil { // all that it has reserved
			sleeper.step(time.Millisecond)
			_, err = sleeper.next()
			next.mustIssue(1)
		}
		if !errors.Is(err, semel.ErrLeaseLost) {
			t.Errorf("past what it had reserved it said %v", err)
		}
		next.mustIssue(100)
		book.mustBeClean(t)
		for _, h := range []*host{next, other, sleeper} {
			h.mustClose()
		}
	})
}
