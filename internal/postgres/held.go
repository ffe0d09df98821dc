package postgres

import (
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// heldKeys remembers for a while the keys whose records somebody held for longer than
// a claim waits. Their claims stay out of batches, so that they keep no others
// waiting.
type heldKeys struct {
	mu   sync.Mutex
	when map[semel.KeyID]time.Time
}

const (
	heldFor = 2 * time.Second
	maxHeld = 1024
)

func (h *heldKeys) has(key semel.KeyID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, ok := h.when[key]
	if ok && time.Since(at) > heldFor {
		delete(h.when, key)
		return false
	}
	return ok
}

func (h *heldKeys) add(key semel.KeyID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.when == nil || len(h.when) >= maxHeld {
		h.when = make(map[semel.KeyID]time.Time)
	}
	h.when[key] = time.Now()
}
