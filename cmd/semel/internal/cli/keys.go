package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/crash"
	"github.com/semel-go/semel/cmd/semel/internal/keys"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// keysFlags are the flags that commands on records share.
type keysFlags struct {
	store string
	json  bool
	which keys.Which

	secretFile string // of list alone
}

func newKeys(std IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Find, read, resolve and delete records",
		Long: `Find, read, resolve and delete records, on the store that a gateway uses.

A record is named by its id (--id, as semel keys list prints it, or its first eight
digits or more, as logs have them), or by KEY and --principal. The principal is the
caller as the gateway computes it: the value of the gateway's --principal, an equals
sign, and the caller's value:

  header:Authorization=Bearer k1
  cookie:session=3f1a
  jwt:sub=alice
  jwt+iss:sub="https://issuer.example" "alice"    (without --jwt-issuer)
  client-cert=CN=till-7,O=Shop                    (or the certificate's URI)
  global

A service that uses semelhttp itself has a principal of its own, value=TEXT, and with
Options.PerRoute a --route.`,
		Args: aCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newKeysGet(std), newKeysList(std), newKeysResolve(std), newKeysDelete(std))
	return cmd
}

func (f *keysFlags) addStore(fs *pflag.FlagSet) {
	fs.StringVar(&f.store, "store", "sqlite:semel.db", "the gateway's store: "+storeurl.SharedForms)
}

func (f *keysFlags) addJSON(fs *pflag.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "print JSON, one record a line")
}

func (f *keysFlags) addWhich(fs *pflag.FlagSet) {
	fs.StringVar(&f.which.Principal, "principal", "", "whose key it is, such as \"header:Authorization=Bearer k1\" or global")
	fs.StringVar(&f.which.Route, "route", "", "the route, for services that keep one scope per route; the gateway does not")
	fs.StringVar(&f.which.ID, "id", "", "the record's id, or its first digits, instead of KEY and --principal")
}

// open opens the store. The gateway's other settings may be in the environment
// too, so they are no mistake here.
func (f *keysFlags) open(cmd *cobra.Command, std IO) (*storeurl.Handle, error) {
	if err := settings.FromEnv(cmd.Flags(), std.Environ, crash.EnvNames(), "store"); err != nil {
		return nil, err
	}
	h, err := storeurl.OpenExisting(cmd.Context(), f.store)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	if !h.Shared {
		h.Close()
		return nil, fmt.Errorf("--store %s: its records are inside the gateway's process; use a store that both can open: %s", f.store, storeurl.SharedForms)
	}
	return h, nil
}

// record opens the store and reads the record that args and flags name. The
// caller closes the store if there is no error.
func (f *keysFlags) record(cmd *cobra.Command, std IO, args []string) (*storeurl.Handle, semel.Record, error) {
	which := f.which
	if len(args) > 0 {
		which.Key = args[0]
	}
	if err := which.Check(); err != nil {
		return nil, semel.Record{}, err
	}
	h, err := f.open(cmd, std)
	if err != nil {
		return nil, semel.Record{}, err
	}
	rec, err := read(cmd.Context(), h.Store, which)
	if err != nil {
		h.Close()
	}
	return h, rec, err
}

func read(ctx context.Context, store semel.Store, which keys.Which) (semel.Record, error) {
	id, err := which.Find(ctx, store)
	if err != nil {
		return semel.Record{}, err
	}
	return keys.Read(ctx, store, id)
}

func newKeysGet(std IO) *cobra.Command {
	var f keysFlags
	cmd := &cobra.Command{
		Use:   "get [KEY]",
		Short: "Print one record with its answer",
		Args:  atMostKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, rec, err := f.record(cmd, std, args)
			if err != nil {
				return err
			}
			defer h.Close()
			view := keys.NewView(rec).WithResult(rec)
			if f.json {
				return view.PrintJSON(std.Out)
			}
			return view.Print(std.Out)
		},
	}
	f.addStore(cmd.Flags())
	f.addWhich(cmd.Flags())
	f.addJSON(cmd.Flags())
	return cmd
}

func newKeysList(std IO) *cobra.Command {
	var f keysFlags
	var state string
	var filter keys.Filter
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List records, such as those in doubt",
		Example: "  semel keys list --state in-doubt --older-than 1h",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if filter.OlderThan < 0 || filter.Limit < 0 {
				return errors.New("--older-than and --limit are not negative; leave them out for all records")
			}
			var err error
			if filter.State, err = keys.ParseState(state); err != nil {
				return err
			}
			if filter.Scope, err = f.scope(cmd, std); err != nil {
				return err
			}
			h, err := f.open(cmd, std)
			if err != nil {
				return err
			}
			defer h.Close()
			return f.list(cmd, std, h.Store, filter)
		},
	}
	f.addStore(cmd.Flags())
	f.addJSON(cmd.Flags())
	cmd.Flags().StringVar(&state, "state", "", "only records in this state: running, released, done or in-doubt")
	cmd.Flags().StringVar(&filter.Operation, "operation", "", "only of this operation, such as POST; self-check shows the gateway's own")
	cmd.Flags().DurationVar(&filter.OlderThan, "older-than", 0, "only records whose last run began that long ago, such as 1h")
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "no more records than this (default all)")
	cmd.Flags().StringVar(&f.which.Principal, "principal", "", "only this caller's records, such as \"header:Authorization=Bearer k1\" or global")
	cmd.Flags().StringVar(&f.secretFile, "secret-file", "", "the gateway's --secret-file, which --principal needs if the gateway has one")
	return cmd
}

// scope is the scope id of --principal, nil for all callers.
func (f *keysFlags) scope(cmd *cobra.Command, std IO) (*semel.ScopeID, error) {
	if f.which.Principal == "" {
		return nil, nil
	}
	if err := settings.FromEnv(cmd.Flags(), std.Environ, crash.EnvNames(), "secret-file"); err != nil {
		return nil, err
	}
	secret, err := settings.ReadSecret(f.secretFile)
	if err != nil {
		return nil, err
	}
	scope, err := keys.ScopeID(secret, f.which.Principal)
	return &scope, err
}

func (f *keysFlags) list(cmd *cobra.Command, std IO, store semel.Store, filter keys.Filter) error {
	if f.json {
		return keys.List(cmd.Context(), store, filter, func(rec semel.Record) error {
			return keys.NewView(rec).PrintJSON(std.Out)
		})
	}
	table := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, keys.RowHeader)
	now := time.Now()
	err := keys.List(cmd.Context(), store, filter, func(rec semel.Record) error {
		_, err := fmt.Fprintln(table, keys.NewView(rec).Row(now))
		return err
	})
	if err != nil {
		return err
	}
	return table.Flush()
}
