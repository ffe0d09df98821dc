package cli

import (
	"errors"

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

Each flag is also an environment variable: --max-request-body is SEMEL_MAX_REQUEST_BODY.
A flag wins over its variable.`,
		Example: "  semel proxy --upstream http://127.0.0.1:9000 --principal header:Authorization",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runProxy(cmd, std) },
	}
	settings.AddProxyFlags(cmd.Flags())
	return cmd
}

func runProxy(cmd *cobra.Command, std IO) error {
	envErr := settings.FromEnv(cmd.Flags(), std.Environ, crash.EnvNames())
	cfg, err := settings.Read(cmd.Flags())
	if err := errors.Join(envErr, err); err != nil {
		return err
	}
	server, err := proxy.Start(cmd.Context(), cfg, version(), newLogger(std.Err, cfg.LogFormat))
	if err != nil {
		return err
	}
	return server.Run(cmd.Context())
}
