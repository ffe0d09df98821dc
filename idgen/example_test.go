package idgen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/memstore"
)

func ExampleUUIDs() {
	var uuids idgen.UUIDs // one for the process

	a, b := uuids.New(), uuids.New()
	at, _ := a.Time()
	fmt.Println(a.Version(), a.String() < b.String(), time.Since(at) < time.Minute)
	// Output: 7 true true
}

func ExampleNode() {
	ctx := context.Background()
	store, err := memstore.New(nil) // in production one that all processes share
	if err != nil {
		fmt.Println(err)
		return
	}
	node, err := idgen.NewNode(ctx, store, &idgen.Options{Group: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close(ctx) // gives the worker id back

	a, err := node.Next(ctx)
	if err != nil {
		fmt.Println(err) // idgen.ClockError, idgen.LeaseError: nothing was issued
		return
	}
	b, err := node.Next(ctx)
	fmt.Println(a < b, a.Worker() == node.Worker(), err)
	// Output: true true <nil>
}

func ExampleSnowflake_json() {
	order := struct {
		ID idgen.Snowflake `json:"id"`
	}{9007199254740993} // JavaScript would read the number as ...992
	out, err := json.Marshal(order)
	fmt.Println(string(out), err)
	// Output: {"id":"9007199254740993"} <nil>
}

func ExampleDerive() {
	scope := semel.Scope{Principal: "shop-1", Operation: "invoice"}
	first, _ := idgen.Derive(scope, "order-7")
	again, _ := idgen.Derive(scope, "order-7")
	other, _ := idgen.Derive(scope, "order-8")
	fmt.Println(first)
	fmt.Println(first == again, first == other)
	// Output:
	// 17b6a8f3-147a-8e24-aa5b-cc7ba838e3a0
	// true false
}

func ExampleULIDs() {
	var ulids idgen.ULIDs // one for the process

	a, err := ulids.New()
	if err != nil {
		fmt.Println(err) // idgen.ErrOverflow
		return
	}
	parsed, err := idgen.ParseULID(a.String())
	fmt.Println(len(a.String()), parsed == a, err)
	// Output: 26 true <nil>
}

func ExampleParseShort() {
	voucher, _ := idgen.Short(12)
	read, err := idgen.ParseShort("7K2M-9QXO-41LB") // what somebody typed
	fmt.Println(len(voucher), read, err)
	// Output: 12 7k2m9qx0411b <nil>
}
