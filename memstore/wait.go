package memstore

import (
	"context"
	"time"

	"github.com/semel-go/semel"
)

// waiter is what all who wait for one key share.
type waiter struct {
	changed chan struct{}
	waiting int
}

// WaitChange is [semel.ChangeWaiter]. It also returns when the lease that it saw
// is over, since a lapse is a change that nobody writes. When ctx ends it returns
// the context's error.
func (s *Store) WaitChange(ctx context.Context, p semel.WaitParams) (semel.WaitResult, error) {
	sh := s.shardOf(p.Key)
	w, leaseLeft := s.enter(sh, p)
	if w == nil {
		return semel.WaitResult{}, nil
	}
	defer sh.leave(p.Key, w)
	lapse := time.NewTimer(leaseLeft)
	defer lapse.Stop()
	select {
	case <-w.changed:
	case <-lapse.C:
	case <-ctx.Done():
		return semel.WaitResult{}, ctx.Err()
	}
	return semel.WaitResult{}, nil
}

// enter joins the waiters of a key; nil if the record has changed already.
func (s *Store) enter(sh *shard, p semel.WaitParams) (*waiter, time.Duration) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.now()
	r, _ := sh.load(p.Key)
	if r.standing(now) != alive || r.fence != p.Fence {
		return nil, 0
	}
	w := sh.waiters[p.Key]
	if w == nil {
		w = &waiter{changed: make(chan struct{})}
		sh.waiters[p.Key] = w
	}
	w.waiting++
	return w, r.leaseUntil.until(now)
}

// leave forgets the waiters of a key with the last of them.
func (sh *shard) leave(key semel.KeyID, w *waiter) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	w.waiting--
	if w.waiting == 0 && sh.waiters[key] == w {
		delete(sh.waiters, key)
	}
}

// wake sends all waiters of a key away.
func (sh *shard) wake(key semel.KeyID) {
	if w := sh.waiters[key]; w != nil {
		close(w.changed)
		delete(sh.waiters, key)
	}
}
