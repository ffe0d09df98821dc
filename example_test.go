package semel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

func newEngine(opts *semel.Options) *semel.Engine {
	store, err := memstore.New(nil)
	if err != nil {
		panic(err)
	}
	engine, err := semel.New(store, opts)
	if err != nil {
		panic(err)
	}
	return engine
}

// The code of the README.
func ExampleDo() {
	ctx := context.Background()
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
	defer engine.Close(ctx)

	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: "user-7", Operation: "charge"}, "order-1"),
		Input: semel.InputString("10.00 EUR"),
	}
	charge := func(ctx context.Context) (string, error) {
		fmt.Println("charging the card")
		return "receipt-1", nil
	}
	for range 3 { // a double click and a retry
		res, err := semel.Do(ctx, engine, op, charge)
		fmt.Println(res.Value, res.Replayed, err)
	}
	// Output:
	// charging the card
	// receipt-1 false <nil>
	// receipt-1 true <nil>
	// receipt-1 true <nil>
}

// One vote per user and item, for ever, without anything that a client has to send.
func ExampleForever() {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)

	vote := func(user, item, choice string) (bool, error) {
		op := semel.Op{
			Key:       semel.KeyOf(semel.Scope{Principal: user, Operation: "vote"}, item),
			Input:     semel.NoInput, // the first choice counts, whatever comes later
			Retention: semel.Forever,
		}
		res, err := semel.Do(ctx, engine, op, func(context.Context) (string, error) {
			fmt.Println("counted:", user, item, choice)
			return choice, nil
		})
		return !res.Replayed, err
	}
	fmt.Println(vote("ada", "poll-1", "tea"))
	fmt.Println(vote("ada", "poll-1", "coffee"))
	fmt.Println(vote("bob", "poll-1", "coffee"))
	// Output:
	// counted: ada poll-1 tea
	// true <nil>
	// false <nil>
	// counted: bob poll-1 coffee
	// true <nil>
}

// The same content again within ten seconds.
func ExampleKeyOfInput() {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)

	send := func(user, text string) (bool, error) {
		content := semel.InputString(text)
		op := semel.Op{
			Key:       semel.KeyOfInput(semel.Scope{Principal: user, Operation: "contact"}, content),
			Input:     content,
			Lease:     5 * time.Second,
			Retention: 10 * time.Second,
		}
		res, err := semel.Do(ctx, engine, op, func(context.Context) (string, error) {
			fmt.Println("mail:", text)
			return "sent", nil
		})
		return !res.Replayed, err
	}
	fmt.Println(send("ada", "hello"))
	fmt.Println(send("ada", "hello"))
	fmt.Println(send("ada", "hello again"))
	// Output:
	// mail: hello
	// true <nil>
	// false <nil>
	// mail: hello again
	// true <nil>
}

func ExampleDo_mismatch() {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)

	key := semel.KeyOf(semel.Scope{Principal: "user-7", Operation: "charge"}, "order-1")
	charge := func(context.Context) (string, error) { return "receipt-1", nil }

	_, _ = semel.Do(ctx, engine, semel.Op{Key: key, Input: semel.InputString("10.00 EUR")}, charge)
	_, err := semel.Do(ctx, engine, semel.Op{Key: key, Input: semel.InputString("99.00 EUR")}, charge)
	fmt.Println(err)
	// Output:
	// semel: the key was used before with another input; use a new key for a new operation
}

func ExampleDoRecover() {
	ctx := context.Background()
	engine := newEngine(&semel.Options{Policy: semel.AtMostOnce})
	defer engine.Close(ctx)

	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: "user-7", Operation: "charge"}, "order-1"),
		Input: semel.InputString("10.00 EUR"),
	}
	charge := func(context.Context) (string, error) { return "", errors.New("no reply from the bank") }
	ask := func(ctx context.Context, doubt semel.Recovery) semel.Recovered[string] {
		fmt.Println("asking the bank what became of attempt", doubt.Attempt)
		return semel.Done("receipt-1")
	}
	for range 3 {
		res, err := semel.DoRecover(ctx, engine, op, charge, ask)
		_, inDoubt := errors.AsType[*semel.InDoubtError](err)
		fmt.Println(res.Value, inDoubt)
	}
	// Output:
	//  true
	// asking the bank what became of attempt 1
	// receipt-1 false
	// receipt-1 false
}

func ExampleFinal() {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)

	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: "user-7", Operation: "charge"}, "order-2"),
		Input: semel.NoInput,
	}
	for range 2 {
		_, err := semel.Do(ctx, engine, op, func(context.Context) (string, error) {
			fmt.Println("asking the bank")
			return "", &semel.FinalError{Code: "card_declined", Message: "the card was declined"}
		})
		fmt.Println(err)
	}
	// Output:
	// asking the bank
	// card_declined: the card was declined
	// card_declined: the card was declined
}

func ExampleEngine_Begin() {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)

	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: "billing", Operation: "invoice"}, "2026-11"),
		Input: semel.NoInput,
	}
	run, done, err := engine.Begin(ctx, op)
	fmt.Println(run.Attempt(), done, err)
	_, err = run.Finish(semel.Verdict{State: semel.StateDone, Result: semel.StoredResult{Kind: semel.ResultValue, Data: []byte(`"sent"`)}})
	fmt.Println(err)

	_, done, err = engine.Begin(ctx, op)
	fmt.Println(string(done.Result.Data), err)
	// Output:
	// 1 <nil> <nil>
	// <nil>
	// "sent" <nil>
}
