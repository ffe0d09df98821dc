package storetest_test

import (
	"context"
	"fmt"

	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/storetest"
)

// A store proves itself. In a test, call storetest.Run(t, harness) instead.
func Example() {
	harness := storetest.Harness{
		New: func(context.Context) (*storetest.Subject, error) {
			clock := storetest.NewClock()
			store, err := memstore.New(&memstore.Options{Now: clock.Now})
			return &storetest.Subject{Store: store, Advance: clock.Advance}, err
		},
	}
	failures := storetest.Check(context.Background(), harness)
	for _, f := range failures {
		fmt.Println(f.String())
	}
	fmt.Println(len(failures), "failures")
	// Output: 0 failures
}
