package intx

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// settle finds out what became of a commit without a reply. It claims again with
// the same token: the row of a transaction that is still there makes it wait, so
// the answer is definite. A record with the token was committed; a key that can be
// had was not, unless the record may have expired since the commit was sent.
func (c *call[X]) settle(ctx context.Context, answer Answer, sent time.Time, cause error) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.set.Timeout)
	defer cancel()
	for try := 0; ; try++ {
		tx, res, err := c.db.Begin(ctx, c.claim, c.set.Timeout)
		switch {
		case err == nil && res.Outcome == semel.ClaimAcquired:
			_ = tx.Rollback()                            // it has done nothing
			if time.Since(sent) >= c.claim.Retention/2 { // which a commit leaves at least
				return answer, unsettled(cause)
			}
			return answer, &undone{&semel.StoreError{Call: "commit", Err: fmt.Errorf("%w: nothing was committed: %v", semel.ErrStoreUnavailable, cause)}}
		case err == nil && res.Outcome == semel.ClaimDone && res.Mine:
			return Answer{Fence: res.Record.Fence, Attempt: res.Record.Attempt}, nil
		case err == nil: // it was not, and somebody else was faster
			return c.answered(&res)
		case !pause(ctx, settlePause(try)):
			return answer, unsettled(cause)
		}
	}
}

func unsettled(cause error) error {
	return &semel.StoreError{Call: "commit", Err: fmt.Errorf("%w: %w", semel.ErrNoReply, cause)}
}

// settlePause is longer than the backoff of conflicts: a server may have to come up.
func settlePause(try int) time.Duration { return min(10*time.Millisecond<<min(try, 10), time.Second) }
