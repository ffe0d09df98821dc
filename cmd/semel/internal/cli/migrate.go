package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/semel-go/semel/cmd/semel/internal/crash"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// migrateFlags are the flags of `semel migrate`.
type migrateFlags struct {
	store   string
	check   bool
	print   bool
	dialect string
	prefix  string
	after   int
}

func newMigrate(std IO) *cobra.Command {
	var f migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate --store URL",
		Short: "Make the store's tables, or bring them up to date",
		Long: `Make the store's tables, or bring them up to date. The gateway does that itself when it
starts, unless it runs with --no-migrate because its role may not create tables.

--check changes nothing and fails if there is something to do. --print writes the SQL to
standard output, for teams with a tool of their own, and opens nothing.`,
		Example: `  semel migrate --store postgres://owner@db.example/shop
  semel migrate --print --dialect postgres > semel.sql`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, std) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.store, "store", "sqlite:semel.db", "the store: "+storeurl.SharedForms)
	fs.BoolVar(&f.check, "check", false, "only say whether the tables are up to date; if not, the exit code is 1")
	fs.BoolVar(&f.print, "print", false, "only print the SQL")
	fs.StringVar(&f.dialect, "dialect", "", "what --print writes: "+strings.Join(storeurl.Dialects, ", ")+" (default that of --store)")
	fs.StringVar(&f.prefix, "prefix", "", "with --dialect: how the names of the tables begin (default semel_)")
	fs.IntVar(&f.after, "after", 0, "with --print: only the versions after this one")
	fs.SortFlags = false
	return cmd
}

func (f *migrateFlags) run(cmd *cobra.Command, std IO) error {
	if err := f.validate(); err != nil {
		return err
	}
	if err := settings.FromEnv(cmd.Flags(), std.Environ, crash.EnvNames(), "store"); err != nil {
		return err
	}
	if f.print {
		script, err := f.script()
		if err != nil {
			return err
		}
		return script.Print(std.Out, f.after)
	}
	act := storeurl.Migrate
	if f.check {
		act = storeurl.CheckSchema
	}
	name, version, err := act(cmd.Context(), f.store)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	if version == 0 {
		_, err = fmt.Fprintf(std.Out, "%s has no tables: there is nothing to migrate\n", name)
		return err
	}
	_, err = fmt.Fprintf(std.Out, "%s is up to date: version %d\n", name, version)
	return err
}

func (f *migrateFlags) validate() error {
	switch {
	case f.check && f.print:
		return errors.New("--check looks into the store and --print opens none; choose one")
	case !f.print && (f.dialect != "" || f.after != 0):
		return errors.New("--dialect and --after say what is printed; add --print")
	case f.dialect == "" && f.prefix != "":
		return errors.New("--prefix goes with --dialect; the address of a store has semel_prefix")
	}
	return nil
}

func (f *migrateFlags) script() (*storeurl.Script, error) {
	if f.dialect != "" {
		script, err := storeurl.NewScript(f.dialect, f.prefix)
		if err != nil {
			return nil, fmt.Errorf("--dialect and --prefix: %w", err)
		}
		return script, nil
	}
	script, err := storeurl.ScriptOf(f.store)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	return script, nil
}
