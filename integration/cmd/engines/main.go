// Command engines runs private servers of all databases that the tests use, until
// Ctrl-C, and prints their addresses. It is `make engines`. After "--" it takes a
// command, which it runs with the addresses in the environment:
//
//	go run ./integration/cmd/engines -- go run ./bench
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/semel-go/semel/integration/internal/engines"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 1 && args[0] == "--" {
		return engines.RunCommand(ctx, args[1:])
	}
	if len(args) > 0 {
		return errors.New("usage: engines [-- command argument…]")
	}
	return engines.Run(ctx, os.Stdout)
}
