// Package integration holds the tests that need third-party drivers: the stores
// against real databases, and what happens to them when processes are killed. It
// is not released.
package integration
