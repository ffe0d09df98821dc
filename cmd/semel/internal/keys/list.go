package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/semel-go/semel"
)

const pageSize = 500

// states by their names on the command line.
var states = []semel.State{semel.StateRunning, semel.StateReleased, semel.StateDone, semel.StateInDoubt}

// ParseState reads the name of a state; empty means all.
func ParseState(name string) (semel.State, error) {
	if name == "" {
		return semel.StateNone, nil
	}
	i := slices.IndexFunc(states, func(s semel.State) bool { return s.String() == name })
	if i < 0 {
		return 0, fmt.Errorf("--state: %q is no state; choose one of %s", name, stateNames())
	}
	return states[i], nil
}

func stateNames() string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.String()
	}
	return strings.Join(names, ", ")
}

// Filter selects records; its zero value takes all.
type Filter struct {
	State semel.State
	Scope *semel.ScopeID
}

// ScopeID is the scope of a caller, as [ParsePrincipal] takes it, under a gateway's
// secret, nil for none.
func ScopeID(secret []byte, name string) (semel.ScopeID, error) {
	principal, err := ParsePrincipal(name)
	return semel.ScopeIDOf(secret, principal), err
}

// List calls each for every record that the filter takes, a page at a time.
func List(ctx context.Context, store semel.Store, filter Filter, each func(semel.Record) error) error {
	lister, ok := store.(semel.Lister)
	if !ok {
		return errors.New("this store cannot list records; read them one by one with semel keys get")
	}
	p := semel.ListParams{State: filter.State, ScopeID: filter.Scope, Limit: pageSize}
	for more := true; more; {
		page, err := lister.List(ctx, p)
		if err != nil {
			return err
		}
		for _, rec := range page.Records {
			if err := each(rec); err != nil {
				return err
			}
		}
		p.Cursor, more = page.Next, page.Next != ""
	}
	return nil
}
