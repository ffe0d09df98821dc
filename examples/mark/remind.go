package main

import (
	"context"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/redisstore"
)

const day = 24 * time.Hour

// marker sets the mark of a key, and tells whether it was not there.
type marker func(ctx context.Context, key semel.Key) (first bool, err error)

// redisMark is SET key … NX PX, one command. The wrong way has two, SETNX and EXPIRE: a
// process that dies between them leaves a mark that never goes.
func redisMark(store *redisstore.Store) marker {
	return func(ctx context.Context, key semel.Key) (bool, error) {
		return store.FirstTime(ctx, key.ID(), day)
	}
}

// engineMark is the same on any store; Do knows of these marks.
func engineMark(engine *semel.Engine) marker {
	return func(ctx context.Context, key semel.Key) (bool, error) {
		return semel.FirstTime(ctx, engine, key, day)
	}
}

// remind reminds a customer once a day at most. A reminder may be lost: if send fails,
// or the process dies before it, the mark is there and nobody tries again.
func remind(ctx context.Context, mark marker, customer string, send func(context.Context) error) error {
	first, err := mark(ctx, semel.KeyOf(semel.Scope{Principal: customer, Operation: "remind"}, "basket"))
	if err != nil || !first {
		return err // without an answer of the store nothing is sent
	}
	return send(ctx)
}

// invoice must not be lost: what failed is done again by the next call.
func invoice(ctx context.Context, engine *semel.Engine, customer string, send func(context.Context) error) error {
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: customer, Operation: "invoice"}, "2026-11"), Input: semel.NoInput}
	_, err := semel.Do(ctx, engine, op, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, send(ctx)
	})
	return err
}
