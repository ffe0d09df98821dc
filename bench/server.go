package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/semel-go/semel/bench/internal/cpu"
	"github.com/semel-go/semel/bench/internal/window"
)

// missingError says which server a suite cannot find.
type missingError string

func (e missingError) Error() string {
	return fmt.Sprintf("skipped: %s is not set; `make bench` starts the servers and sets it", string(e))
}

// serverURL is the address of a server, from the environment. The CPU time of the
// server counts from now on, if its process id is there as well.
func serverURL(cfg *window.Config, name, pid string) (string, error) {
	address := os.Getenv(name)
	if address == "" {
		return "", missingError(name)
	}
	n, err := strconv.Atoi(os.Getenv(pid))
	if err != nil {
		return "", fmt.Errorf("%s is the process id of the server of %s: %w", pid, name, err)
	}
	cfg.CPU = cpu.NewMeter(n).Used
	return address, nil
}

// cleanup is what has to be done when a suite is over, the last thing first.
type cleanup []func()

func (c *cleanup) add(f func()) { *c = append(*c, f) }

func (c *cleanup) run() {
	for _, f := range slices.Backward(*c) {
		f()
	}
}
