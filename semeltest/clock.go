package semeltest

import (
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// Clock is a [semel.Clock] that moves only when told to, for
// [semel.Options.Clock] and for the clocks of embedded stores. Timeouts of store
// calls are the system's all the same. The zero Clock is not usable; see [NewClock].
// All methods may be called concurrently.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*timer]struct{}
}

// NewClock returns a clock that stands at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Unix(1_750_000_000, 0).UTC(), timers: make(map[*timer]struct{})}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward and fires the timers that are due.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for t := range c.timers {
		if !c.now.Before(t.due) {
			delete(c.timers, t)
			t.fire <- c.now
		}
	}
}

// NewTimer returns a timer that fires when the clock was moved by d or more.
func (c *Clock) NewTimer(d time.Duration) semel.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{clock: c, due: c.now.Add(d), fire: make(chan time.Time, 1)}
	if d <= 0 {
		t.fire <- c.now
		return t
	}
	c.timers[t] = struct{}{}
	return t
}

type timer struct {
	clock *Clock
	due   time.Time
	fire  chan time.Time // holds one, so that Advance never waits
}

// C is [semel.Timer]'s.
func (t *timer) C() <-chan time.Time { return t.fire }

// Stop is [semel.Timer]'s.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, waiting := t.clock.timers[t]
	delete(t.clock.timers, t)
	return waiting
}
