package postgres

import (
	"context"
	"sync"

	"github.com/semel-go/semel"
)

// notifier tells waiters that runs have ended: after the commit, in statements of
// its own, since a transaction that notifies takes a lock that all of them share.
// Those that come while one is under way share the next. What cannot be sent is
// forgotten; waiters look for themselves from time to time.
type notifier struct {
	send  func([]semel.KeyID)
	ended func(semel.KeyID) // or nil: see Options

	mu      sync.Mutex
	pending []semel.KeyID
	running bool
	closed  bool
	under   sync.WaitGroup
}

func (n *notifier) add(key semel.KeyID) {
	if n.ended != nil {
		n.ended(key)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.pending = append(n.pending, key)
	if !n.running {
		n.running = true
		n.under.Go(n.run)
	}
}

func (n *notifier) run() {
	for keys := n.take(); keys != nil; keys = n.take() {
		n.send(keys)
	}
}

// take ends the run when nothing is left.
func (n *notifier) take() []semel.KeyID {
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := n.pending
	n.pending = nil
	n.running = keys != nil
	return keys
}

// close waits until what is pending is sent.
func (n *notifier) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.under.Wait()
}

// notify sends one notification for each key.
func (s *Store) notify(keys []semel.KeyID) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	text, args := s.text.NotifyStatement(keys)
	execute(ctx, s.db, text, args...) // see notifier
}

// NotifyStatement tells those who wait for these keys in all processes. It is for
// after the commit.
func (t *Text) NotifyStatement(keys []semel.KeyID) (text string, args []any) {
	payloads := newArray(len(keys), 32)
	for _, key := range keys {
		payloads.uuid(key)
	}
	return t.notify, []any{t.channel, payloads.arg()}
}

// Channel is the channel of the notifications. The payload of each is a key, as
// [semel.KeyID.String] writes it.
func (t *Text) Channel() string { return t.channel }

// Await marks a run as waited for, so that whoever ends it tells, and reports
// whether it still goes on.
func Await(ctx context.Context, s *Store, p semel.WaitParams) (goesOn bool, err error) {
	err = s.alone(ctx, func(ctx context.Context) error {
		_, err := scalars(ctx, s.db.Query, s.text.await, []any{string(waitOne), uuid(p.Key), int64(p.Fence)}, &goesOn)
		return err
	})
	return goesOn, failure(err)
}
