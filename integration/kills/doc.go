// Package kills holds the tests that kill workers with SIGKILL in the middle of their
// work, at six points of it, let others go on, and count the effects.
//
// What must come out is in DESIGN.md's guarantee levels: under AtLeastOnce a kill may
// cost one more effect, under AtMostOnce there is never a second one and a doubt may
// remain, and a record that commits with its effect has exactly one.
//
//   - worker_test.go: the worker, which runs in a process of its own
//   - executor_test.go: how it runs a job under each guarantee level
//   - campaign_test.go: kills workers round after round
//   - count_test.go: lets the work be done, and counts
//   - kills_test.go: the tests
//
// make soak kills more of them; see package soak.
package kills
