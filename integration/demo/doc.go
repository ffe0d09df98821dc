// Package demo holds the tests of `semel demo` from outside: the real binary in
// a real browser, and the same stories told with curl. Without Chromium or curl
// they are skipped, or fail where CI=true.
//
// SEMEL_SCREENSHOTS names a folder for the pictures that the tests take; without
// it they go where go test -artifacts says. The binary is built anew in each run,
// which go test does not see: run it with -count=1, else an old result may count.
package demo
