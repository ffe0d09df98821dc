package demo

import "sync"

// bell tells watchers that something has changed. All methods may be called
// concurrently.
type bell struct {
	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
}

func newBell() *bell { return &bell{watchers: map[chan struct{}]struct{}{}} }

// watch returns a channel that gets a signal when something has changed since
// the last one, and a function that ends that.
func (b *bell) watch() (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers[ch] = struct{}{}
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, ch)
	}
}

// ring wakes the watchers; one that is awake already misses nothing.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
