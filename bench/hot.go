package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
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

// hotCycle claims hot keys on any store, and finishes those that it gets.
func hotCycle(store semel.Store, keys *hotKeys) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		var key semel.KeyID
		copy(key[:], keys.take())
		token := semel.NewToken()
		res, err := store.Claim(ctx, semel.ClaimParams{
			Key: key, Token: token, Policy: semel.AtLeastOnce, Lease: 30 * time.Second, Retention: 24 * time.Hour, Operation: "charge",
		})
		if err != nil || res.Outcome == semel.ClaimRunning || res.Outcome == semel.ClaimDone {
			return err
		}
		if res.Outcome != semel.ClaimAcquired {
			return fmt.Errorf("a hot key is %v", res.Outcome)
		}
		_, err = store.Finish(ctx, semel.FinishParams{
			Key: key, Token: token, State: semel.StateDone, Retention: 24 * time.Hour,
			Result: semel.StoredResult{Kind: semel.ResultValue, Data: make([]byte, payload)},
		})
		return err
	}
}
