package cli

import (
	"github.com/spf13/cobra"

	"github.com/semel-go/semel/cmd/semel/internal/demo"
)

func newDemo(std IO) *cobra.Command {
	var opts demo.Options
	var verbose bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a payment go through once: a shop, the gateway and a page",
		Long: `Start a small shop, the gateway in front of it, an office that uses the library, and a
page that tells five stories with and without them: a double click, a lost answer, a
dying service, a ballot that is cast again, a webhook that comes twice. Five schemes
(unique numbers, versions, form tokens, locks, ids) stand beside their wrong ways. A panel
on the page uses the gateway wrongly and shows what it answers.

Everything runs in this process on this machine, keeps its files in a temporary
folder and removes it at the end.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Version = version()
			if verbose {
				opts.Log = newLogger(std.Err, "text")
			}
			d, err := demo.Start(cmd.Context(), &opts)
			if err != nil {
				return err
			}
			d.Announce(std.Out)
			return d.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&opts.Listen, "listen", "", "the page's address, on loopback (default 127.0.0.1:8088, or a free port)")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print what the gateway logs")
	return cmd
}
