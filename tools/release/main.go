// Command release makes a release of all modules under one version.
//
//	release prepare VERSION   drops the replaces of the released modules, requires
//	                          VERSION of what they named, and writes the sums: the
//	                          release commit
//	release proxy VERSION DIR writes the modules as that commit would have them into
//	                          DIR, a module proxy of its own (GOPROXY=file://DIR)
//
// Run it from any folder of the repository. On the main branch siblings find the
// core and each other through replaces, which go install refuses in a released module.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	usage := errors.New("usage: release prepare VERSION | release proxy VERSION DIR; a version is like v0.3.0")
	if len(args) < 2 {
		return usage
	}
	r, err := newRelease(args[1])
	if err != nil {
		return err
	}
	switch {
	case args[0] == "prepare" && len(args) == 2:
		return r.prepare()
	case args[0] == "proxy" && len(args) == 3:
		return r.proxy(args[2])
	}
	return usage
}
