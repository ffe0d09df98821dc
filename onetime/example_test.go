package onetime_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/onetime"
)

// Form is what the user fills in.
type Form struct{ Address string }

// Validate finds the user's mistakes.
func (f Form) Validate() error {
	if f.Address == "" {
		return errors.New("the address is missing")
	}
	return nil
}

// Receipt is what the user gets.
type Receipt struct{ Order int }

// shop places orders.
type shop struct {
	forms  *onetime.Service
	orders int
}

func (s *shop) place(context.Context, Form) (Receipt, error) {
	s.orders++
	return Receipt{s.orders}, nil
}

// submit is what the handler of the form does.
func (s *shop) submit(ctx context.Context, token, userID string, form Form) {
	res, err := onetime.Use(ctx, s.forms, token, "order", userID, semel.InputJSON(form),
		func(ctx context.Context) (Receipt, error) {
			if err := form.Validate(); err != nil {
				return Receipt{}, semel.Retryable(err) // gives the token back
			}
			return s.place(ctx, form)
		})
	_, changed := errors.AsType[*onetime.ContentChangedError](err)
	switch {
	case changed:
		fmt.Println("this form was sent before, with other words: order", res.Value.Order)
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println("order", res.Value.Order, "replayed:", res.Replayed)
	}
}

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
	secret := []byte("32 random bytes from a secret file")
	issuer, err := onetime.NewIssuer([][]byte{secret}, nil) // the same in all processes
	if err != nil {
		fmt.Println(err)
		return
	}
	forms, err := onetime.New(engine, issuer, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, userID := context.Background(), "alice"
	token, expires, err := issuer.Issue("order", userID) // when the form is shown
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("good for some hours:", time.Until(expires) > 11*time.Hour)
	s := &shop{forms: forms}
	s.submit(ctx, token, userID, Form{})
	s.submit(ctx, token, userID, Form{"1 Tea Street"})
	s.submit(ctx, token, userID, Form{"1 Tea Street"})
	s.submit(ctx, token, userID, Form{"2 Coffee Road"})
	s.submit(ctx, token, "mallory", Form{"1 Tea Street"})
	fmt.Println("orders placed:", s.orders)
	// Output:
	// good for some hours: true
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

	ctx, userID := context.Background(), "alice"
	token, err := tokens.Issue(ctx, "download", userID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("mallory:", tokens.Consume(ctx, token, "download", "mallory") == nil)
	for range 2 {
		err = tokens.Consume(ctx, token, "download", userID) // nil for one caller, ErrRefused for all others
		fmt.Println("alice:", err == nil)
	}
	// Output:
	// mallory: false
	// alice: true
	// alice: false
}
