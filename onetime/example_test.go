package onetime_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/onetime"
)

// A form is sent with a mistake, corrected, sent, sent again by a double click, and
// then changed and sent once more by the back button.
func Example() {
	store, err := memstore.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	issuer, err := onetime.NewIssuer([][]byte{[]byte("32 random bytes from a secret file")}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	forms, err := onetime.New(engine, issuer, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	token, _, err := issuer.Issue("order", "alice") // when the form is shown
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := 0
	submit := func(user, address string) {
		res, err := onetime.Use(context.Background(), forms, token, "order", user, semel.InputString(address),
			func(context.Context) (int, error) {
				if address == "" {
					return 0, semel.Retryable(errors.New("the address is missing")) // gives the token back
				}
				orders++
				return orders, nil
			})
		_, changed := errors.AsType[*onetime.ContentChangedError](err)
		switch {
		case changed:
			fmt.Println("this form was sent before, with other words: order", res.Value)
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println("order", res.Value, "replayed:", res.Replayed)
		}
	}
	submit("alice", "")
	submit("alice", "1 Tea Street")
	submit("alice", "1 Tea Street")
	submit("alice", "2 Coffee Road")
	submit("mallory", "1 Tea Street")
	fmt.Println("orders placed:", orders)
	// Output:
	// the address is missing
	// order 1 replayed: false
	// order 1 replayed: true
	// this form was sent before, with other words: order 1
	// onetime: the token is refused; issue a new one and ask the user to send the form again
	// orders placed: 1
}

func ExampleStored() {
	store, err := memstore.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	tokens, err := onetime.NewStored(engine, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	token, err := tokens.Issue(ctx, "download", "alice")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("mallory:", tokens.Consume(ctx, token, "download", "mallory") == nil)
	fmt.Println("alice:", tokens.Consume(ctx, token, "download", "alice") == nil)
	fmt.Println("alice:", tokens.Consume(ctx, token, "download", "alice") == nil)
	// Output:
	// mallory: false
	// alice: true
	// alice: false
}
