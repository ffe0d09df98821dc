// Package frontend holds the tests of the JavaScript client in a real browser: pages
// with its build in Chromium, the gateway as a process of its own, a network before it
// that has accidents, and behind it a shop that ignores keys and counts what it
// executes. Without Chromium or Node.js they are skipped, or fail where CI=true.
//
// The client and the binary are built anew in each run, which go test does not see: run
// it with -count=1, else an old result may count.
package frontend
