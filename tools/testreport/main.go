// Command testreport reads the output of go test -json and prints what a person
// wants to see: one line for each package, all that a failed test said, why tests
// were skipped, and the totals.
//
//	go test -json ./... | testreport -show '^figures: '
//
// It fails if a test failed, if a package did not build, or if there was no test.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	show := flag.String("show", "^$", "print lines of passing tests that match this `pattern`")
	flag.Parse()
	pattern, err := regexp.Compile(*show)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	r := newReport(os.Stdout, pattern)
	err = r.read(os.Stdin)
	r.summary()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}
