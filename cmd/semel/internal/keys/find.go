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

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// Which names one record, by ID or by the other three.
type Which struct {
	// Key is the caller's key as sent, with or without quotes.
	Key string
	// Principal is the caller as the gateway computes it: the value of --principal,
	// an equals sign and the caller's value, such as
	// "header:Authorization=Bearer k1"; or "global".
	Principal string
	// Route is the route of services that keep one scope per route.
	Route string
	// ID is the record's id, 32 hexadecimal digits.
	ID string
}

// Resolve returns the id of the record.
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
	return semelhttp.KeyFor(principal(w.Principal), w.Route, text).ID(), nil
}

func principal(s string) string {
	if s == "global" {
		return semel.Global
	}
	return s
}

// Read returns the record with the id, or an error that says there is none.
func Read(ctx context.Context, store semel.Store, id semel.KeyID) (semel.Record, error) {
	rec, err := store.Read(ctx, semel.ReadParams{Key: id})
	if err == nil && rec.State == semel.StateNone {
		err = fmt.Errorf("there is no record %s: it expired, was deleted, or key, principal or route differ from what was sent", id)
	}
	return rec, err
}
