package main

import (
	"context"
	"errors"

	"github.com/semel-go/semel"
)

// forget deletes what is recorded of a user, in every poll, and tells how many records
// that were. It reads the ids of all records; the rows of votes are deleted elsewhere,
// and before.
func forget(ctx context.Context, store semel.Store, user string) (deleted int, err error) {
	lister, ok := store.(semel.Lister)
	if !ok {
		return 0, errors.New("the store lists no records")
	}
	scope := semel.ScopeIDOf(nil, user) // nil: the engine has no Secret
	p := semel.ListParams{ScopeID: &scope, Limit: 1000}
	for {
		page, err := lister.List(ctx, p)
		if err != nil {
			return deleted, err
		}
		for _, rec := range page.Records {
			res, err := store.Resolve(ctx, semel.ResolveParams{Key: rec.Key, Token: semel.NewToken(), Fence: rec.Fence, Resolution: semel.ResolveDelete})
			if err != nil {
				return deleted, err
			}
			if res.Resolved { // not while it is running: then once more, later
				deleted++
			}
		}
		if p.Cursor = page.Next; p.Cursor == "" {
			return deleted, nil
		}
	}
}
