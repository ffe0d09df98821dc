// Package backends is the list of stores that the tests of faults and of many callers
// run on: each with its driver, on a database of its own.
//
//	for _, b := range backends.All() {
//		t.Run(b.Name, func(t *testing.T) {
//			h, err := b.Open(ctx, b.Database(t))
//			…
//		})
//	}
//
// A DSN is all that a child process needs to open the same database, and all that a
// proxy needs to stand in between.
package backends
