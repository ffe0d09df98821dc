package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/semel-go/semel"
)

// place is where the transactions of this process that hold a record wait for each
// other: SQLite has one writer at a time, and its own wait takes a connection and
// knows no queue.
type place struct {
	taken  chan struct{} // holds one value while somebody has it
	holder atomic.Pointer[semel.KeyID]
}

var errSameKey = errors.New("sqlite: another transaction holds the key")

// LockTx is [sqltx.Locker]'s.
func (s *Store) LockTx(ctx context.Context, key semel.KeyID, wait time.Duration) (unlock func(), err error) {
	p := &s.place
	select {
	case p.taken <- struct{}{}:
	default:
		if err := p.queue(ctx, key, wait, s.writer.patience); err != nil {
			return nil, err
		}
	}
	p.holder.Store(&key)
	return func() {
		p.holder.Store(nil)
		<-p.taken
	}, nil
}

func (p *place) queue(ctx context.Context, key semel.KeyID, wait, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, max(wait, patience))
	defer cancel()
	same := time.NewTicker(max(wait, time.Millisecond))
	defer same.Stop()
	for {
		select {
		case p.taken <- struct{}{}:
			return nil
		case <-same.C:
			if p.heldBy(key) {
				return errSameKey
			}
		case <-ctx.Done():
			if p.heldBy(key) {
				return errSameKey
			}
			busy := fmt.Errorf("%w: sqlite: other transactions write: %w", semel.ErrStoreUnavailable, context.Cause(ctx))
			return &failure{class: classBusy, err: busy}
		}
	}
}

func (p *place) heldBy(key semel.KeyID) bool {
	holder := p.holder.Load()
	return holder != nil && *holder == key
}
