// Package keys is the operators' view of the records: find, read, resolve and
// delete them, straight on the store that a gateway uses.
//
// Records are found by their id, or by principal, route and key as the gateway
// computes them. Key texts and principals are never printed: a record does not
// hold them.
package keys

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// Which names one record, by ID or by the other three.
type Which struct {
	// Key is the caller's key as sent, with or without quotes.
	Key string
	// Principal is the caller, as [ParsePrincipal] takes it.
	Principal string
	// Route is the route of services that keep one scope per route.
	Route string
	// ID is the record's id, 32 hexadecimal digits, or its first ones, 8 at least.
	ID string
}

// Resolve returns the id of a record that is named without a look into the store.
func (w Which) Resolve() (semel.KeyID, error) {
	if w.ID != "" {
		if w.Key != "" || w.Principal != "" || w.Route != "" {
			return semel.KeyID{}, errors.New("--id names the record alone; drop KEY, --principal and --route")
		}
		return semel.ParseKeyID(w.ID)
	}
	if w.Key == "" || w.Principal == "" {
		return semel.KeyID{}, errors.New(`say which record: KEY with --principal VALUE (such as "header:Authorization=Bearer k1", or global), or --id HEX as semel keys list prints it`)
	}
	text, err := semelhttp.ParseKey([]string{w.Key}, false)
	if err != nil {
		return semel.KeyID{}, fmt.Errorf("KEY: %w", err)
	}
	principal, err := ParsePrincipal(w.Principal)
	if err != nil {
		return semel.KeyID{}, err
	}
	return semelhttp.KeyFor(principal, w.Route, text).ID(), nil
}

// Check reports what is wrong with w before a store is opened.
func (w Which) Check() error {
	if _, ok := w.prefix(); ok {
		return nil
	}
	_, err := w.Resolve()
	return err
}

// Find returns the id of the record that w names, which may be by the beginning of
// its id.
func (w Which) Find(ctx context.Context, store semel.Store) (semel.KeyID, error) {
	if prefix, ok := w.prefix(); ok {
		return byPrefix(ctx, store, prefix)
	}
	return w.Resolve()
}

// idDigits are those of a whole id; leastDigits, as logs have them, tell records
// apart in practice.
const idDigits, leastDigits = 32, 8

// prefix is the beginning of an id, as logs and tables show it.
func (w Which) prefix() (string, bool) {
	digits := strings.ToLower(strings.TrimSuffix(w.ID, "…"))
	ok := leastDigits <= len(digits) && len(digits) < idDigits && strings.Trim(digits, "0123456789abcdef") == ""
	return digits, ok && w.Key == "" && w.Principal == "" && w.Route == ""
}

// byPrefix looks through all records, since stores find them by whole ids only.
func byPrefix(ctx context.Context, store semel.Store, prefix string) (semel.KeyID, error) {
	var found []semel.KeyID
	err := all(ctx, store, semel.ListParams{Limit: pageSize}, func(rec semel.Record) (bool, error) {
		if strings.HasPrefix(rec.Key.String(), prefix) {
			found = append(found, rec.Key)
		}
		return true, nil
	})
	switch {
	case err != nil:
		return semel.KeyID{}, err
	case len(found) == 0:
		return semel.KeyID{}, fmt.Errorf("there is no record whose id begins with %s: it expired or was deleted", prefix)
	case len(found) > 1:
		return semel.KeyID{}, fmt.Errorf("%d ids begin with %s, such as %s and %s; write more digits", len(found), prefix, found[0], found[1])
	}
	return found[0], nil
}

// Read returns the record with the id, or an error that says there is none.
func Read(ctx context.Context, store semel.Store, id semel.KeyID) (semel.Record, error) {
	rec, err := store.Read(ctx, semel.ReadParams{Key: id})
	if err == nil && rec.State == semel.StateNone {
		err = fmt.Errorf("there is no record %s: it expired, was deleted, or key, principal or route differ from what was sent", id)
	}
	return rec, err
}
