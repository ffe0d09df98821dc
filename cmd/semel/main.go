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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}))
}
