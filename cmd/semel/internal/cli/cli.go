// Package cli holds the commands of the semel binary: what can be typed, and how
// a command's failure is told. The work is done in the packages beside it.
package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// IO is the world of a command.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // "NAME=value"
}

// Run runs the command that args name and returns the exit code. It stops when
// ctx ends.
func Run(ctx context.Context, args []string, std IO) int {
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	if err := root.ExecuteContext(ctx); err != nil {
		tell(std.Err, err)
		return 1
	}
	return 0
}

func newRoot(std IO) *cobra.Command {
	root := &cobra.Command{
		Use:           "semel",
		Short:         "Make HTTP operations take effect once per key",
		Args:          aCommand,
		RunE:          showHelp,
		Version:       versionLine(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newProxy(std))
	root.AddCommand(newConfig(std))
	root.AddCommand(newOpenAPI(std))
	root.AddCommand(newMigrate(std))
	root.AddCommand(newKeys(std))
	root.AddCommand(newDemo(std))
	root.AddCommand(newVersion())
	return root
}

// tell prints each line of a joined error as a line of its own.
func tell(w io.Writer, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(w, "semel: "+strings.TrimPrefix(line, "semel: "))
	}
}

func newLogger(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
