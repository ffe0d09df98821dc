// Package configview shows a configuration: as a table of what would be guarded,
// and as the file that would make it.
package configview

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// Table prints which requests would be guarded, and how.
func Table(w io.Writer, cfg *settings.Proxy) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "METHODS\tPATH\tMODE\tKEY\tREQUIRED\tPRINCIPAL\tRETENTION\tLEASE\tWAIT\tON-UNKNOWN\tALSO")
	for _, route := range append(cfg.Routes[:len(cfg.Routes):len(cfg.Routes)], cfg.Rest()) {
		row(table, route)
	}
	if cfg.FormTokens != nil {
		for _, e := range cfg.FormTokens.Endpoints {
			fmt.Fprintf(table, "GET,POST\t%s\ttokens\t-\t-\t%s\t-\t-\t-\t-\tissues form-token:%s for %s\n", e.Path, e.Principal, e.Purpose, settings.FormatDuration(e.Lifetime))
		}
	}
	return table.Flush()
}

func row(w io.Writer, t settings.Route) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
		strings.Join(t.Methods, ","), cmp.Or(t.Path, "(all others)"), mode(t), strings.Join(t.KeyTexts(), " "), required(t), t.Principal,
		settings.FormatDuration(t.Retention), settings.FormatDuration(t.Lease), settings.FormatDuration(t.Wait), settings.FormatUnknown(t.Hold), cmp.Or(extras(t), "-"))
}

func mode(t settings.Route) string {
	switch {
	case !t.Enabled:
		return "off"
	case t.Observe:
		return "observe"
	}
	return "guard"
}

func required(t settings.Route) string {
	switch {
	case t.Derived != nil:
		return "never missing"
	case t.RequireKey:
		return "yes"
	}
	return "no"
}

// extras names what a route has that most have not.
func extras(t settings.Route) string {
	var list []string
	add := func(there bool, text string) {
		if there {
			list = append(list, text)
		}
	}
	add(t.Derived != nil && t.Derived.Reject, "rejects duplicates")
	add(t.Verify != "", "verify")
	add(t.JSON != nil, "json")
	add(t.StoreErrors, "store-5xx")
	add(t.CORS != nil, "cors")
	add(t.Quota != nil, "quota")
	return strings.Join(list, ", ")
}
