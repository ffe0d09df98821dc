package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/semel-go/semel/cmd/semel/internal/crash"
	"github.com/semel-go/semel/cmd/semel/internal/proxy"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

func newProxy(std IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy --upstream URL --principal KIND",
		Short: "Guard an HTTP service: each Idempotency-Key takes effect once",
		Long: `Guard an HTTP service: a POST or PATCH with an Idempotency-Key takes effect once,
and every repetition gets the recorded answer.

Each flag is also an environment variable: --max-request-body is SEMEL_MAX_REQUEST_BODY,
and a key of the file that --config names, which has rules for routes too. A flag wins
over its variable, and both win over the file, which SIGHUP reads again.`,
		Example: "  semel proxy --upstream http://127.0.0.1:9000 --principal header:Authorization",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runProxy(cmd, std) },
	}
	settings.AddProxyFlags(cmd.Flags())
	return cmd
}

func runProxy(cmd *cobra.Command, std IO) error {
	cfg, err := loadProxy(cmd, std)
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	if cfg.Config != "" { // without a file it means what it always meant: the terminal is gone
		signal.Notify(hangup, syscall.SIGHUP)
		defer signal.Stop(hangup)
	}
	server, err := proxy.Start(cmd.Context(), cfg, version(), newLogger(std.Err, cfg.LogFormat))
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(cmd.Context())
	var watch sync.WaitGroup
	watch.Go(func() { server.Watch(watching, hangup, func() (*settings.Proxy, error) { return loadProxy(cmd, std) }) })
	defer watch.Wait()
	defer stop()
	return server.Run(cmd.Context())
}

// loadProxy reads flags, environment and file. It may be called again.
func loadProxy(cmd *cobra.Command, std IO) (*settings.Proxy, error) {
	envErr := settings.FromEnv(cmd.Flags(), std.Environ, crash.EnvNames())
	cfg, err := settings.Read(cmd.Flags())
	if err := errors.Join(envErr, err); err != nil {
		return nil, err
	}
	return cfg, nil
}
