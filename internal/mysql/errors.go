package mysql

import (
	"context"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
)

// unwritten is the failure of a statement that may have had an effect.
func unwritten(ctx context.Context, err error) error {
	sentinel := semel.ErrStoreUnavailable
	switch ClassOf(err) {
	case Unsure:
		sentinel = semel.ErrNoReply
	case Full:
		sentinel = semel.ErrStoreFull
	}
	return fmt.Errorf("%w: mysql: %w", sentinel, because(ctx, err))
}

// unread is the failure of a statement that has no effect.
func unread(ctx context.Context, err error) error {
	return fmt.Errorf("%w: mysql: %w", semel.ErrStoreUnavailable, because(ctx, err))
}

// unanswered is the failure of a statement that reads after another one had its effect.
func unanswered(ctx context.Context, err error) error {
	return fmt.Errorf("%w: mysql: %w", semel.ErrNoReply, because(ctx, err))
}

// unknown is the failure to learn what a statement did that may have had an effect.
func unknown(ctx context.Context, err error) error {
	return fmt.Errorf("%w: mysql: %w", semel.ErrNoReply, because(ctx, err))
}

// because adds the cause of a context that ended.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// ended refuses to begin anything for a caller who is gone.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, context.Cause(ctx))
}

// errRestless ends the loop of a call whose record is changed by others all the time.
func errRestless(key semel.KeyID) error {
	return fmt.Errorf("%w: mysql: the record %.4x changed %d times meanwhile", semel.ErrStoreUnavailable, key[:], attempts)
}

// attempts bounds the loops of calls whose record changed between two statements.
const attempts = 8
