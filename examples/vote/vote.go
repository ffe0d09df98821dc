package main

import (
	"context"

	"github.com/semel-go/semel"
)

// vote counts a user's vote in a poll, once for ever. The first choice counts: a later
// call gets it, whatever it asks for.
func vote(ctx context.Context, engine *semel.Engine, user, poll, choice string) (counted string, first bool, err error) {
	op := semel.Op{
		Key:       semel.KeyOf(semel.Scope{Principal: user, Operation: "vote"}, poll),
		Input:     semel.NoInput, // the choice is not a part of it
		Retention: semel.Forever,
	}
	res, err := semel.Do(ctx, engine, op, func(context.Context) (string, error) {
		return choice, nil // in earnest: add it to the poll
	})
	return res.Value, !res.Replayed, err
}
