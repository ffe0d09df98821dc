package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/admin"
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

// Filter selects records; its zero value takes all but those of self-checks.
type Filter struct {
	State     semel.State
	Scope     *semel.ScopeID
	Operation string        // self-checks are asked for by their name
	OlderThan time.Duration // since the last run began; 0: any
	Limit     int           // 0: all
}

// takes reports what a store does not select itself. Of a record that cannot be
// read nothing is known, so that no condition takes it.
func (f Filter) takes(rec semel.Record, now time.Time) bool {
	if rec.State == semel.StateUnreadable {
		return f.Operation == "" && f.OlderThan == 0
	}
	if f.Operation == "" {
		return rec.Operation != admin.SelfCheck && f.isOld(rec, now)
	}
	return rec.Operation == f.Operation && f.isOld(rec, now)
}

func (f Filter) isOld(rec semel.Record, now time.Time) bool {
	return f.OlderThan == 0 || now.Sub(rec.StartedAt) >= f.OlderThan
}

// ScopeID is the scope of a caller, as [ParsePrincipal] takes it, under a gateway's
// secret, nil for none.
func ScopeID(secret []byte, name string) (semel.ScopeID, error) {
	principal, err := ParsePrincipal(name)
	return semel.ScopeIDOf(secret, principal), err
}

// List calls each for every record that the filter takes, a page at a time.
func List(ctx context.Context, store semel.Store, filter Filter, each func(semel.Record) error) error {
	now, left := time.Now(), filter.Limit
	return all(ctx, store, semel.ListParams{State: filter.State, ScopeID: filter.Scope, Limit: pageSize}, func(rec semel.Record) (bool, error) {
		if !filter.takes(rec, now) {
			return true, nil
		}
		left--
		return left != 0, each(rec)
	})
}

// all calls each for every record that the store selects, while it says to go on.
func all(ctx context.Context, store semel.Store, p semel.ListParams, each func(semel.Record) (more bool, err error)) error {
	lister, ok := store.(semel.Lister)
	if !ok {
		return errors.New("this store cannot list records; read them one by one with semel keys get")
	}
	for {
		page, err := lister.List(ctx, p)
		if err != nil {
			return err
		}
		for _, rec := range page.Records {
			if more, err := each(rec); err != nil || !more {
				return err
			}
		}
		if p.Cursor = page.Next; p.Cursor == "" {
			return nil
		}
	}
}
