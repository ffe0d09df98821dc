package optimistic

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/semel-go/semel/dup"
)

// Pool is a *sql.DB, or what embeds one. A transaction and a connection are none: see
// [Update].
type Pool interface {
	Querier
	Conn(ctx context.Context) (*sql.Conn, error)
}

// Update makes a change on the version that the row has: next reads the row, decides, and
// returns the change, which names the version that it read; then [Exec]. When somebody
// else was faster, that is done again, after a pause, with the new version; see
// [Retry]. next must do nothing but read, or be safe to repeat; its error ends Update.
//
// It takes no transaction, in which repeating may be of no use: under REPEATABLE READ,
// the default of MySQL, it never sees the new version, however often it asks. There use
// Exec, and let [Retry] repeat the whole transaction.
func Update(ctx context.Context, db Pool, opts *Options, next func(ctx context.Context) (Change, error)) error {
	if db == nil || next == nil {
		return errNothingToDo
	}
	return Retry(ctx, opts, func(ctx context.Context) error {
		change, err := next(ctx)
		if err != nil {
			return err
		}
		return Exec(ctx, db, change)
	})
}

// Retry runs attempt until it succeeds, while it fails with [ErrConflict] or an error
// that dup.Retryable knows, [Options.Attempts] times at most, with pauses that grow and
// are drawn by lot, so that writers get out of step. Every attempt must begin afresh: read
// again, in a new transaction if it uses one. Then the last error is returned, with the
// number of attempts; other errors at once. When ctx ends during a pause, the error
// matches its cause too.
func Retry(ctx context.Context, opts *Options, attempt func(ctx context.Context) error) error {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return err
	}
	if attempt == nil {
		return errNothingToDo
	}
	for n := 1; ; n++ {
		err := attempt(ctx)
		if err == nil || !errors.Is(err, ErrConflict) && !dup.Retryable(err) {
			return err
		}
		if n == o.Attempts {
			return fmt.Errorf("optimistic: tried %d times: %w", n, err)
		}
		if cause := sleep(ctx, o.pause(n)); cause != nil {
			return fmt.Errorf("optimistic: tried %d times: %w: %w", n, cause, err)
		}
	}
}

var errNothingToDo = errors.New("optimistic: the database or the function is nil")

// pause is drawn for the time after an attempt.
func (o *Options) pause(attempt int) time.Duration {
	longest := o.MaxPause
	if doublings := attempt - 1; doublings < 62 && o.Pause <= o.MaxPause>>doublings {
		longest = o.Pause << doublings
	}
	return rand.N(longest + 1)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
