package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/spelling"
)

// noArgs is for commands whose settings are all flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes flags only, and %q is none; %s", cmd.CommandPath(), args[0], seeHelp(cmd))
}

// oneArg is for commands that need one argument, of which name is what it is called.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("%s takes one %s, and was given %d; %s", cmd.CommandPath(), name, len(args), seeHelp(cmd))
	}
}

// atMostKey is for commands on a record.
func atMostKey(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return fmt.Errorf("%s takes one KEY, and was given %d words; put quotes around a value with spaces; %s", cmd.CommandPath(), len(args), seeHelp(cmd))
}

// aCommand is for commands that only have others below them.
func aCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := spelling.Hint(args[0], cmd.CommandPath()+" ", names)
	if hint == "" {
		hint = "; choose from " + strings.Join(names, ", ")
	}
	return fmt.Errorf("%q is no command of %s%s", args[0], cmd.CommandPath(), hint)
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// flagError tells of a flag that could not be read.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return fmt.Errorf("%w; %s", err, seeHelp(cmd))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" { // no command has any
		return fmt.Errorf("-%s is no flag of %s; flags begin with two dashes; %s", unknown.GetSpecifiedShortnames(), cmd.CommandPath(), seeHelp(cmd))
	}
	return fmt.Errorf("--%s is no flag of %s%s", name, cmd.CommandPath(), orSeeHelp(cmd, spelling.Hint(name, "--", names)))
}

func orSeeHelp(cmd *cobra.Command, hint string) string {
	if hint != "" {
		return hint
	}
	return "; " + seeHelp(cmd)
}

func seeHelp(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }
