package sqlrecord

import (
	"errors"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
)

// Unbatched translates the combiner's errors into those of the contract.
func Unbatched(err error) error {
	switch {
	case errors.Is(err, combiner.ErrLeft):
		return fmt.Errorf("%w: %w", semel.ErrNoReply, err)
	case errors.Is(err, combiner.ErrWithdrawn):
		return fmt.Errorf("%w: %w", semel.ErrStoreUnavailable, err)
	}
	return err
}
