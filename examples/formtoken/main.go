// Command formtoken lets a form that was shown once be sent once: by a token that is
// compared and deleted in one step, and by one that is spent through the life cycle, so
// that a failed validation gives it back and a second click gets the answer of the first.
//
//	go run ./examples/formtoken
//	REDIS_URL=redis://127.0.0.1:6379 go run ./examples/formtoken
//
// Without REDIS_URL tokens are in the memory of this process.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/onetime"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error { return scratch.Engine(ctx, story) }

func story(ctx context.Context, engine *semel.Engine) error {
	return errors.Join(classic(ctx, engine), spent(ctx, engine))
}

// classic is a token whose use is a step of its own.
func classic(ctx context.Context, engine *semel.Engine) error {
	tokens, err := onetime.NewStored(engine, nil)
	if err != nil {
		return err
	}
	token, err := tokens.Issue(ctx, "order", "ada") // when the form is shown
	if err != nil {
		return err
	}
	fmt.Println("compared and deleted, of bob:", reply(orderByStored(ctx, tokens, token, "bob", form{"1 Tea Street"})))
	var placed, refused atomic.Int64
	err = scratch.AtOnce(4, func(int) error {
		_, err := orderByStored(ctx, tokens, token, "ada", form{"1 Tea Street"})
		switch {
		case err == nil:
			placed.Add(1)
		case errors.Is(err, onetime.ErrRefused):
			refused.Add(1)
		default:
			return err
		}
		return nil
	})
	fmt.Printf("4 clicks of ada: %d placed, %d told that the token is no good\n", placed.Load(), refused.Load())
	return err
}

// spent is a token whose use and whose order are one operation.
func spent(ctx context.Context, engine *semel.Engine) error {
	secret := make([]byte, 32)
	rand.Read(secret) // in earnest: from a file, the same in all processes
	issuer, err := onetime.NewIssuer([][]byte{secret}, nil)
	if err != nil {
		return err
	}
	forms, err := onetime.New(engine, issuer, nil)
	if err != nil {
		return err
	}
	token, _, err := issuer.Issue("order", "ada")
	if err != nil {
		return err
	}
	for _, f := range []form{{""}, {"1 Tea Street"}, {"1 Tea Street"}, {"2 Coffee Road"}} {
		fmt.Printf("spent with the order, to %q: %s\n", f.Address, reply(order(ctx, forms, token, "ada", f)))
	}
	return nil
}
