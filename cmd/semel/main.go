// Command semel is Semel's gateway and its operators' tool: see docs/gateway.md,
// or semel help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/semel-go/semel/cmd/semel/internal/cli"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // first of all, so that a second signal ends the process at once
		cancel()
	}()
	os.Exit(cli.Run(ctx, os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}))
}
