package memstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

func Example() {
	ctx := context.Background()
	store, err := memstore.New(&memstore.Options{MaxBytes: 64 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	claim := semel.ClaimParams{
		Key: semel.KeyID{1}, Token: semel.NewToken(), Policy: semel.AtLeastOnce,
		Lease: 30 * time.Second, Retention: 24 * time.Hour, Operation: "charge",
	}
	first, _ := store.Claim(ctx, claim)
	fmt.Println(first.Outcome, "attempt", first.Record.Attempt)

	duplicate := claim
	duplicate.Token = semel.NewToken()
	second, _ := store.Claim(ctx, duplicate)
	fmt.Println(second.Outcome)

	_, err = store.Finish(ctx, semel.FinishParams{
		Key: claim.Key, Token: claim.Token, State: semel.StateDone, Retention: 24 * time.Hour,
		Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte(`"paid"`)},
	})
	fmt.Println("finished:", err)

	third, _ := store.Claim(ctx, duplicate)
	fmt.Printf("%v %s\n", third.Outcome, third.Record.Result.Data)
	// Output:
	// acquired attempt 1
	// running
	// finished: <nil>
	// done "paid"
}
