package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// asked is how often each hot key is asked for.
const asked = 128

// hotKeys are keys for which many callers ask at once, as after double clicks and
// impatient retries: one key after the other, or several at a time.
type hotKeys struct {
	width int64 // keys at a time
	next  atomic.Int64
	run   int64 // so that no two runs have a key in common
}

func newHotKeys(width int64) *hotKeys { return &hotKeys{width: width, run: time.Now().UnixNano()} }

// take returns the key of the next request, 16 bytes long.
func (h *hotKeys) take() string {
	n := h.next.Add(1) - 1
	key := n/(h.width*asked)*h.width + n%h.width
	return fmt.Sprintf("%08x%08x", uint32(h.run), key)
}
