package scratch

import (
	"errors"
	"sync"
)

// AtOnce calls do n times at once, as n impatient callers would, and returns their errors.
func AtOnce(n int, do func(caller int) error) error {
	failed := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { failed[i] = do(i) })
	}
	all.Wait()
	return errors.Join(failed...)
}
