package redis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/redisstore"
)

const (
	lease     = time.Hour
	retention = 24 * time.Hour
)

func newKey() semel.KeyID { return semel.KeyID(semel.NewToken()) }

func claimOf(key semel.KeyID, token semel.Token) semel.ClaimParams {
	return semel.ClaimParams{Key: key, Token: token, Policy: semel.AtLeastOnce, Lease: lease, Retention: retention, Operation: "charge"}
}

func doneOf(key semel.KeyID, token semel.Token, data string) semel.FinishParams {
	return semel.FinishParams{
		Key: key, Token: token, State: semel.StateDone, Retention: retention,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte(data)},
	}
}

func inDoubt(key semel.KeyID, token semel.Token) semel.FinishParams {
	return semel.FinishParams{Key: key, Token: token, State: semel.StateInDoubt, Cause: semel.CauseHandler, Retention: retention}
}

// acquire claims a key that is free.
func acquire(t testing.TB, s *redisstore.Store, p semel.ClaimParams) semel.Record {
	t.Helper()
	res, err := s.Claim(t.Context(), p)
	if err != nil || res.Outcome != semel.ClaimAcquired || !res.Mine {
		t.Fatalf("claim: %v, %v; want acquired", res.Outcome, err)
	}
	return res.Record
}

func finish(t testing.TB, s *redisstore.Store, p semel.FinishParams) {
	t.Helper()
	if _, err := s.Finish(t.Context(), p); err != nil {
		t.Fatalf("finish as %v: %v", p.State, err)
	}
}

func read(t testing.TB, s *redisstore.Store, key semel.KeyID) semel.Record {
	t.Helper()
	r, err := s.Read(t.Context(), semel.ReadParams{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a caller is told when a call fails.
func unavailable(err error) bool {
	return errors.Is(err, semel.ErrStoreUnavailable) && !errors.Is(err, semel.ErrNoReply)
}

func noReply(err error) bool {
	return errors.Is(err, semel.ErrNoReply) && !errors.Is(err, semel.ErrStoreUnavailable)
}

// soon is a context for calls that are to run into its end.
func soon(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 300*time.Millisecond)
}
