package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/keys"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// decideFlags are the flags of commands that change a record.
type decideFlags struct {
	keysFlags
	reason    string
	yes       bool
	logFormat string
}

func (f *decideFlags) add(fs *pflag.FlagSet) {
	f.addStore(fs)
	f.addWhich(fs)
	fs.StringVar(&f.reason, "reason", "", "why, for the log (required)")
	fs.BoolVar(&f.yes, "yes", false, "do not ask")
	fs.StringVar(&f.logFormat, "log-format", "text", "form of the log line on standard error: text or json")
}

func newKeysResolve(std IO) *cobra.Command {
	var f decideFlags
	var done string
	var didNotHappen bool
	var retention string
	cmd := &cobra.Command{
		Use:   "resolve [KEY] --done FILE | --did-not-happen",
		Short: "Decide a record in doubt",
		Long: `Decide a record whose outcome is unknown, after finding out what happened.

--done FILE says that it did happen: FILE holds the answer that retries get, as
curl -i prints it; - reads it from standard input (with --yes).
--did-not-happen says that it did not: the next retry runs the operation.`,
		Args: atMostKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (done != "") == didNotHappen {
				return errors.New("say what happened: --done FILE or --did-not-happen")
			}
			stays, err := settings.ParseRetention(retention)
			if err != nil {
				return fmt.Errorf("--retention: %w", err)
			}
			d := keys.Decision{Resolution: semel.ResolveDidNotHappen, Retention: stays, Reason: f.reason}
			if done != "" {
				d.Resolution = semel.ResolveDone
				result, err := readAnswer(done, f.yes, std)
				if err != nil {
					return err
				}
				d.Result = result
			}
			return f.decide(cmd, std, args, d)
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&done, "done", "", "it happened; retries get the answer in this file")
	cmd.Flags().BoolVar(&didNotHappen, "did-not-happen", false, "it did not happen; the next retry runs it")
	cmd.Flags().StringVar(&retention, "retention", "24h", "how long the decided record stays: 1s or more, or forever")
	return cmd
}

func newKeysDelete(std IO) *cobra.Command {
	var f decideFlags
	cmd := &cobra.Command{
		Use:   "delete [KEY]",
		Short: "Forget a record: the next request with the key is a new one",
		Args:  atMostKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.decide(cmd, std, args, keys.Decision{Resolution: semel.ResolveDelete, Reason: f.reason})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *decideFlags) decide(cmd *cobra.Command, std IO, args []string, d keys.Decision) error {
	if strings.TrimSpace(f.reason) == "" {
		return errors.New("say why with --reason: it is logged with your name")
	}
	h, rec, err := f.record(cmd, std, args)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := d.Check(rec); err != nil {
		return err
	}
	fmt.Fprintln(std.Out, d.Describe(rec))
	if !f.yes && !confirmed(std) {
		return errors.New("nothing was changed")
	}
	now, err := d.Apply(cmd.Context(), h.Store, rec, newLogger(std.Err, f.logFormat))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(std.Out, keys.Decided(rec.Key, now))
	return err
}

// confirmed asks on standard input; no answer is a no.
func confirmed(std IO) bool {
	fmt.Fprint(std.Out, "Go on? [y/N] ")
	line, _ := bufio.NewReader(std.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

func readAnswer(file string, yes bool, std IO) (semel.StoredResult, error) {
	if file == "-" {
		if !yes {
			return semel.StoredResult{}, errors.New("--done -: standard input holds the answer, so nothing can be asked there; add --yes")
		}
		return keys.ReadResponse(std.In)
	}
	f, err := os.Open(file)
	if err != nil {
		return semel.StoredResult{}, fmt.Errorf("--done: %w", err)
	}
	defer f.Close()
	result, err := keys.ReadResponse(f)
	if err != nil {
		return result, fmt.Errorf("--done %s: %w", file, err)
	}
	return result, nil
}
