package sqlite

import (
	"context"
	"time"
)

// The pauses between two tries for the lock. They are short, since SQLite knows no
// queue: among processes that write without a break, who tries often gets a turn.
const (
	lockPause    = 500 * time.Microsecond // at first
	maxLockPause = 2 * time.Millisecond
)

// lock starts a transaction as soon as no other process has one under way.
func (w *writer) lock(ctx context.Context) *failure {
	f := w.tryLock()
	if f == nil || f.class != classBusy {
		return f
	}
	return w.waitLock(ctx, f)
}

func (w *writer) tryLock() *failure {
	if _, err := w.exec(stmtBegin); err != nil {
		return undone(err)
	}
	return nil
}

// waitLock tries again, ever less often, until the patience of the store or of
// the caller is at its end.
func (w *writer) waitLock(ctx context.Context, f *failure) *failure {
	ctx, cancel := context.WithTimeoutCause(ctx, w.patience, f)
	defer cancel()
	for pause := lockPause; f != nil && f.class == classBusy; pause = min(2*pause, maxLockPause) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return f.because(context.Cause(ctx))
		}
		f = w.tryLock()
	}
	return f
}
