package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/semel-go/semel/cmd/semel/internal/configview"
	"github.com/semel-go/semel/cmd/semel/internal/proxy"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

func newConfig(std IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and print the gateway's configuration",
		Args:  aCommand,
		RunE:  showHelp,
	}
	cmd.AddCommand(newConfigCheck(std), newConfigPrint(std))
	return cmd
}

func newConfigCheck(std IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Print what a file would guard, or all its mistakes with their lines",
		Long: `Print a table of what semel proxy --config FILE would guard, or all mistakes in FILE
with their lines. Nothing is started or opened. Flags and variables count as they do
for semel proxy, so that what the file leaves to them can be given.`,
		Args: oneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmd.Flags().Set("config", args[0]); err != nil {
				return err
			}
			cfg, err := loadProxy(cmd, std)
			if err != nil {
				return err
			}
			if err := proxy.Check(cfg); err != nil {
				return err
			}
			return configview.Table(std.Out, cfg)
		},
	}
	settings.AddProxyFlags(cmd.Flags())
	return cmd
}

func newConfigPrint(std IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print the effective configuration, and where each setting comes from",
		Long: `Print what semel proxy would run with, given the same flags, variables and file, as a
file: each setting with where it comes from, each route with all that it inherits.
Passwords and queries in addresses are not shown.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadProxy(cmd, std)
			if err != nil {
				return err
			}
			if cfg.Config != "" {
				fmt.Fprintln(std.Out, "# from "+cfg.Config)
			}
			return configview.Print(std.Out, cfg)
		},
	}
	settings.AddProxyFlags(cmd.Flags())
	return cmd
}

func newOpenAPI(std IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "openapi --config FILE",
		Short: "Print what clients should know of the guarded routes, for an OpenAPI document",
		Long: `Print a fragment of an OpenAPI 3.1 document, as JSON, for the guarded routes of the
file: the key parameters, the answers that the gateway gives itself, and for how long
answers are replayed. Merge it into the document of the service.`,
		Example: "  semel openapi --config semel.yaml > idempotency.json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadProxy(cmd, std)
			if err != nil {
				return err
			}
			fragment, err := proxy.OpenAPI(cfg)
			if err != nil {
				return err
			}
			_, err = std.Out.Write(fragment)
			return err
		},
	}
	settings.AddProxyFlags(cmd.Flags())
	return cmd
}
