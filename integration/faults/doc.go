// Package faults holds the tests of stores whose database fails them: a connection that
// breaks at any statement, a server that is killed, that stops for longer than a lease,
// or whose standby takes its place.
//
//   - transition_test.go: the calls of a store, each in the situation that it is for
//   - accident_test.go: what may happen to a statement, and what a caller may be told
//   - store_test.go: every call, every accident, every statement
//   - engine_test.go: the same under semel.Do: the work runs once
//   - storm_test.go: accidents at random, many callers
//   - crash_test.go: the server is killed under load; nothing acknowledged is lost
//   - pause_test.go: the server stops; no two owners
//   - standby_test.go: the standby is promoted; what is lost
//
// make soak lets storms, crashes and pauses go on for longer; see package soak.
package faults
