// Package lock holds the tests of package lock on real engines, and with processes that
// are killed and paused.
package lock
