package semel

import "sync"

// tally counts the work that Close waits for: operations that are being claimed,
// runs that are held, and goroutines in the background.
type tally struct {
	mu      sync.Mutex
	n       int
	idle    chan struct{} // set by close, closed when n is 0
	stopped bool
	spawned sync.WaitGroup
}

// begin counts new work. It is false once close was called.
func (t *tally) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		return false
	}
	t.n++
	return true
}

// also counts work that follows from counted work, so it is never refused.
func (t *tally) also() {
	t.mu.Lock()
	t.n++
	t.mu.Unlock()
}

func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.idle != nil {
		close(t.idle)
	}
}

// spawn runs f in a goroutine that counts. It is false after join was called.
func (t *tally) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	t.n++
	t.spawned.Go(func() {
		defer t.end()
		f()
	})
	return true
}

// close refuses new work and returns a channel that is closed when none is left.
func (t *tally) close() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle == nil {
		t.idle = make(chan struct{})
		if t.n == 0 {
			close(t.idle)
		}
	}
	return t.idle
}

// join waits for the goroutines, which were told to end.
func (t *tally) join() {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.spawned.Wait()
}
