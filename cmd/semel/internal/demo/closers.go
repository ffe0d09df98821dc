package demo

import (
	"errors"
	"slices"
)

// closers undo steps in reverse.
type closers struct{ undo []func() error }

func (c *closers) add(undo func() error) { c.undo = append(c.undo, undo) }

// close undoes all steps, whatever becomes of one of them. It may be called once.
func (c *closers) close() error {
	var errs []error
	for _, undo := range slices.Backward(c.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}
