package sqlcode

import "slices"

// wrapped is what an error wraps directly.
func wrapped(err error) []error {
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	}
	return slices.DeleteFunc(slices.Clone(inner), func(err error) bool { return err == nil })
}
