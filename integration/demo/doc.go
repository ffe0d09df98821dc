// Package demo holds the tests of `semel demo` from outside: the real binary in
// a real browser, and the same stories told with curl. Without Chromium or curl
// they are skipped, or fail where CI=true.
//
// SEMEL_SCREENSHOTS names a folder for the pictures that the tests take; without
// it they go where go test -artifacts says.
package demo
