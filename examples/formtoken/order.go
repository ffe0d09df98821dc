package main

import (
	"context"
	"errors"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

type form struct{ Address string }

var errAddress = errors.New("the address is missing")

// order places the order of a form, once for each token.
func order(ctx context.Context, forms *onetime.Service, token, user string, f form) (string, error) {
	res, err := onetime.Use(ctx, forms, token, "order", user, semel.InputJSON(f),
		func(ctx context.Context) (string, error) {
			if f.Address == "" {
				return "", semel.Retryable(errAddress) // gives the token back
			}
			return place(ctx, f)
		})
	return res.Value, err
}

// orderByStored does it with the classic token. What goes wrong after Consume has used the
// token up: the form has to be shown again.
//
// The wrong way reads the token, compares it, and deletes it then: two clicks read it.
func orderByStored(ctx context.Context, tokens *onetime.Stored, token, user string, f form) (string, error) {
	if f.Address == "" {
		return "", errAddress // before the token is used up
	}
	if err := tokens.Consume(ctx, token, "order", user); err != nil {
		return "", err
	}
	return place(ctx, f)
}

// place stands for what a shop does with an order.
func place(_ context.Context, f form) (string, error) { return "on its way to " + f.Address, nil }

// reply is what the user sees.
func reply(said string, err error) string {
	_, changed := errors.AsType[*onetime.ContentChangedError](err)
	switch {
	case changed:
		return "this form was sent already: " + said
	case errors.Is(err, onetime.ErrRefused):
		return "please open the form again"
	case err != nil:
		return err.Error()
	}
	return said
}
