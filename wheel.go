package semel

import (
	"sync"
	"time"
)

// The wheel turns one slot a tick; what is due in a later turn stays in its slot.
const (
	wheelSlots = 256
	wheelTick  = 25 * time.Millisecond
)

// wheel wakes runs when a renewal or their local deadline is due: one goroutine
// and one timer for all runs, and neither while there is no run.
type wheel struct {
	e       *Engine
	mu      sync.Mutex
	slots   [wheelSlots]runList
	runs    int
	turning bool
	origin  time.Time
	turned  int64 // ticks since origin that are done
	idle    chan struct{}
}

// runList is a doubly linked list through the runs themselves.
type runList struct{ head *Run }

func (w *wheel) init(e *Engine) {
	w.e = e
	w.origin = e.now()
}

// add puts a run on the wheel, due at a time.
func (w *wheel) add(r *Run, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs++
	if !w.turning {
		w.turning = true
		w.idle = make(chan struct{})
		w.turned = w.ticks(w.e.now())
		go w.turn(w.idle)
	}
	w.put(r, due)
}

// remove takes a run off the wheel, if it is on it.
func (w *wheel) remove(r *Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.slot != nil {
		r.slot.unlink(r)
		w.runs--
	}
}

// move changes when a run is due, unless it was removed.
func (w *wheel) move(r *Run, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.slot != nil {
		r.slot.unlink(r)
		w.put(r, due)
	}
}

func (w *wheel) put(r *Run, due time.Time) {
	r.due = due
	tick := max(w.ticks(due), w.turned+1)
	w.slots[tick%wheelSlots].link(r)
}

// ticks counts the ticks from the origin to t, rounded up.
func (w *wheel) ticks(t time.Time) int64 {
	return int64((t.Sub(w.origin) + wheelTick - 1) / wheelTick)
}

// turn is the wheel's goroutine. It ends when no run is left or the engine is
// closed for good.
func (w *wheel) turn(idle chan struct{}) {
	defer close(idle)
	t := w.e.opts.Clock.NewTimer(wheelTick)
	for {
		select {
		case <-t.C():
		case <-w.e.ctx.Done():
			t.Stop()
			return
		}
		due, more := w.advance()
		for _, r := range due {
			r.wake()
		}
		if !more {
			return
		}
		t = w.e.opts.Clock.NewTimer(wheelTick)
	}
}

// advance collects the runs that are due by now. They stay on the wheel.
func (w *wheel) advance() (due []*Run, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.e.now()
	last := int64(now.Sub(w.origin) / wheelTick)
	from := max(w.turned+1, last-wheelSlots+1) // after a pause of the process one full turn sees all
	for tick := from; tick <= last; tick++ {
		for r := w.slots[tick%wheelSlots].head; r != nil; r = r.next {
			if !r.due.After(now) {
				due = append(due, r)
			}
		}
	}
	w.turned = max(w.turned, last)
	w.turning = w.runs > 0
	return due, w.turning
}

// stop waits for the wheel's goroutine; the engine's context has ended.
func (w *wheel) stop() {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	if idle != nil {
		<-idle
	}
}

func (l *runList) link(r *Run) {
	r.slot, r.prev, r.next = l, nil, l.head
	if l.head != nil {
		l.head.prev = r
	}
	l.head = r
}

func (l *runList) unlink(r *Run) {
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		l.head = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.slot, r.prev, r.next = nil, nil, nil
}
