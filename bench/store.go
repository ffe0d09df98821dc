package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
	"modernc.org/sqlite"
)

func openStore(ctx context.Context, file string) (*sqlstore.Store, error) {
	connector, err := sqlstore.Connector(&sqlite.Driver{}, file)
	if err != nil {
		return nil, err
	}
	return sqlstore.OpenSQLite(ctx, connector, nil)
}

// storeCycle claims a new key and finishes it, on any store.
func storeCycle(store semel.Store, retention time.Duration) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		var key semel.KeyID
		rand.Read(key[:])
		return cycle(ctx, store, key, retention)
	}
}

// cycle claims a key and finishes it. A claim may be told that a new key is running
// when something locks the table for long; as any caller would, it comes back.
func cycle(ctx context.Context, store semel.Store, key semel.KeyID, retention time.Duration) error {
	token := semel.NewToken()
	outcome := semel.ClaimRunning
	for try := 0; outcome == semel.ClaimRunning && try < 5; try++ {
		res, err := store.Claim(ctx, semel.ClaimParams{
			Key: key, Token: token, Policy: semel.AtLeastOnce, Lease: 30 * time.Second, Retention: retention, Operation: "charge",
		})
		if err != nil {
			return err
		}
		outcome = res.Outcome
	}
	if outcome != semel.ClaimAcquired {
		return fmt.Errorf("a new key is %v", outcome)
	}
	_, err := store.Finish(ctx, semel.FinishParams{
		Key: key, Token: token, State: semel.StateDone, Retention: retention,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: make([]byte, payload)},
	})
	return err
}
